import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import { LINE_IP, Line } from "./kcp-line.ts";
import { cubicModel, runSimulated } from "./kcp-simulated.ts";
import type { PartOptions, PartResult } from "./part.ts";

const LOSS_RATES: readonly number[] = [0.01, 0.05, 0.2];
const JUDGED_LOSS_RATE = 0.05;
const RTT_SECONDS = 0.1;
const MEGABITS = 20;
/** What waits before a bottleneck, at most. */
const QUEUE_MS = 100;
/** A line on which nothing was sent for so long has nothing more of what was before. */
const QUIET_MS = 400;
const SIMULATED_BYTES = 16_000_000;
const CONTESTANTS = ["cubic", "bbr", "kcp"] as const;
type Contestant = (typeof CONTESTANTS)[number];

const BULK_TASK = fileURLToPath(new URL("./kcp-bulk-task.js", import.meta.url));
const PORTOLAN = fileURLToPath(new URL("../../../../dist/cli/main.js", import.meta.url));
/** Until something comes through a tunnel that was just started. */
const WARM_SECONDS = 1;
const SECRET = "a secret for the benchmark";
const BULK_PORT = 8080;
const TUNNEL_PORT = 4000;
const ENTRY_PORT = 8081;

interface Run {
  readonly megabits: number;
  /** IP bytes of the sender for each byte that arrived. */
  readonly sentShare: number;
  /** The same of both ends. */
  readonly bothShare: number;
}

/** KCP beside TCP on lossy lines, in the simulated network and between network namespaces. */
export async function measureKcp(options: PartOptions): Promise<PartResult> {
  const rounds = options.isQuick ? 1 : options.rounds;
  const simulated = [
    ...LOSS_RATES.flatMap((lossRate) => simulatedFigures({ lossRate })),
    ...LOSS_RATES.flatMap((lossRate) =>
      simulatedFigures({ lossRate, megabits: MEGABITS, queueMs: QUEUE_MS }),
    ),
  ];
  const runs = new Map<string, Run[]>();
  for (let round = 0; round < rounds; round += 1) {
    for (const lossRate of LOSS_RATES) {
      for (const contestant of CONTESTANTS) {
        const run = await measureLine(contestant, lossRate, options);
        const key = keyOf(contestant, lossRate);
        runs.set(key, [...(runs.get(key) ?? []), run]);
      }
    }
  }
  const values = [...runs].map(([key, all]) => [key, all.map(({ megabits }) => megabits)]);
  return {
    text: `kcp: ${RTT_SECONDS * 1000} ms there and back; between namespaces ${MEGABITS} Mbit/s with a queue of 100 ms, ${rounds} rounds`,
    figures: [...simulated, ...LOSS_RATES.flatMap((lossRate) => lineFigures(runs, lossRate))],
    values: Object.fromEntries(values),
  };
}

function keyOf(contestant: Contestant, lossRate: number): string {
  return `${contestant} at ${lossRate * 100} %`;
}

function simulatedFigures(line: {
  readonly lossRate: number;
  readonly megabits?: number;
  readonly queueMs?: number;
}): readonly Figure[] {
  const { lossRate, megabits } = line;
  const { seconds, payloadBytes, ...run } = runSimulated(SIMULATED_BYTES, line);
  const limit = megabits === undefined ? "" : ` at ${megabits} Mbit/s`;
  const where = `simulated${limit}, ${lossRate * 100} % lost`;
  const rate = payloadBytes / seconds;
  const timesCubic = rate / cubicModel(lossRate, RTT_SECONDS);
  const both = run.sentBytes + run.answeredBytes;
  return [
    { name: `${where}: KCP`, value: (rate * 8) / 1e6, unit: "Mbit/s" },
    atLeast(`${where}: KCP beside RFC 9438's CUBIC`, timesCubic, judged(lossRate, 3)),
    ...shares(where, run.sentBytes / payloadBytes, both / payloadBytes, lossRate),
    { name: `${where}: segments sent again`, value: run.resentSegments, unit: "segments" },
    { name: `${where}: dropped by a full queue`, value: run.overflowed, unit: "datagrams" },
  ];
}

function lineFigures(
  runs: ReadonlyMap<string, readonly Run[]>,
  lossRate: number,
): readonly Figure[] {
  const of = (contestant: Contestant, what: keyof Run): number =>
    median((runs.get(keyOf(contestant, lossRate)) ?? []).map((run) => run[what]));
  const where = `namespaces, ${lossRate * 100} % lost`;
  const kcp = of("kcp", "megabits");
  return [
    ...CONTESTANTS.map((contestant) => {
      const value = of(contestant, "megabits");
      return { name: `${where}: ${contestant}`, value, unit: "Mbit/s" };
    }),
    atLeast(`${where}: KCP beside cubic`, kcp / of("cubic", "megabits"), judged(lossRate, 3)),
    atLeast(`${where}: KCP beside BBR`, kcp / of("bbr", "megabits"), judged(lossRate, 1)),
    ...shares(where, of("kcp", "sentShare"), of("kcp", "bothShare"), lossRate),
  ];
}

function judged(lossRate: number, limit: number): number | undefined {
  return lossRate === JUDGED_LOSS_RATE ? limit : undefined;
}

function shares(where: string, sent: number, both: number, lossRate: number): readonly Figure[] {
  const limit = judged(lossRate, 1.3);
  return [
    { name: `${where}: bytes sent for each of the payload`, value: sent, unit: "bytes", limit },
    { name: `${where}: the same of both ends`, value: both, unit: "bytes", limit },
  ];
}

function atLeast(name: string, value: number, limit: number | undefined): Figure {
  return { name, value, unit: "times", limit, bound: "least" };
}

/** Downloads over a line of its own for so long. */
async function measureLine(
  contestant: Contestant,
  lossRate: number,
  { folder, seconds }: PartOptions,
): Promise<Run> {
  const line = await Line.open({
    lossRate,
    delayMs: (RTT_SECONDS * 1000) / 2,
    megabits: MEGABITS,
    queueMs: QUEUE_MS,
  });
  const children: ChildProcess[] = [];
  try {
    const control = contestant === "kcp" ? "cubic" : contestant;
    line.useControl(control);
    const server = line.spawn("left", [BULK_TASK, "serve", String(BULK_PORT)]);
    children.push(server);
    if (server.stdout !== null) await once(server.stdout, "data");
    if (contestant === "kcp") children.push(...startTunnel(line, folder));
    const to = contestant === "kcp" ? ["127.0.0.1", ENTRY_PORT] : [LINE_IP.left, BULK_PORT];
    if (contestant === "kcp") {
      await fetchFor(line, to, WARM_SECONDS);
      // What the tunnel had taken for the reader that is gone is still sent, and is nothing of what is measured.
      await line.quiet(QUIET_MS);
    }
    const before = { ...line.sent };
    const { bytes, tookMs, after } = await fetchFor(line, to, seconds);
    const sent = after.left - before.left;
    const both = sent + after.right - before.right;
    return {
      megabits: (bytes * 8) / tookMs / 1000,
      sentShare: sent / bytes,
      bothShare: both / bytes,
    };
  } finally {
    for (const child of children) {
      const over = once(child, "exit");
      child.kill("SIGKILL");
      await over;
    }
    await line.close();
  }
}

function startTunnel(line: Line, folder: string): readonly ChildProcess[] {
  const env = { ...process.env, PORTOLAN_KCPTUN_SECRET: SECRET };
  const tunnel = [PORTOLAN, "kcptun"];
  const server = [
    "server",
    "--listen",
    `${LINE_IP.left}:${TUNNEL_PORT}`,
    "--target",
    `127.0.0.1:${BULK_PORT}`,
  ];
  const client = [
    "client",
    "--listen",
    `127.0.0.1:${ENTRY_PORT}`,
    "--server",
    `${LINE_IP.left}:${TUNNEL_PORT}`,
  ];
  const common = (name: string) => ["--loops", "1", "--state", join(folder, name)];
  return [
    line.spawn("left", [...tunnel, ...server, ...common("kcp-server")], env),
    line.spawn("right", [...tunnel, ...client, ...common("kcp-client")], env),
  ];
}

async function fetchFor(
  line: Line,
  [host, port]: readonly (string | number)[],
  seconds: number,
): Promise<{ readonly bytes: number; readonly tookMs: number; readonly after: Line["sent"] }> {
  const child = line.spawn("right", [
    BULK_TASK,
    "fetch",
    String(host),
    String(port),
    String(seconds),
  ]);
  let output = "";
  let after = { ...line.sent };
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
    // Now: until its process is gone, more is sent that nobody counts.
    after = { ...line.sent };
  });
  await once(child, "close");
  const { bytes, tookMs }: { bytes: number; tookMs: number } = JSON.parse(output);
  return { bytes, tookMs, after };
}
