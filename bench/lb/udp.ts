import { createSocket } from "node:dgram";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { runTask } from "../support/child.ts";
import { median } from "../support/measure.ts";
import { cpuSecondsOf } from "../support/process-tree.ts";
import { numbersFrom } from "../support/results.ts";
import { inTurns } from "./compare.ts";
import type { Extra, ExtraOptions } from "./extra.ts";
import { portolanLb } from "./portolan-command.ts";
import { type ServiceProcess, startService } from "./service-process.ts";

const LOAD = new URL("./tasks/udp-load.js", import.meta.url);
const ECHO = fileURLToPath(new URL("./tasks/udp-echo.js", import.meta.url));
const SESSIONS: readonly number[] = [1, 1000];
const LEAST_RATE = 150_000;
const MOST_LOST_PERCENT = 0.1;
const ANSWER_MS = 100;
const PERCENT = 100;
/** Each goes to the server and comes back. */
const WAYS = 2;

interface UdpRound {
  /** Datagrams that passed, both ways together, for a CPU-second of the proxy. */
  readonly rate: number;
  readonly lostPercent: number;
}

type UdpName = "portolan" | "other" | "nginx";

const LABELS: Readonly<Record<UdpName, string>> = {
  portolan: "Portolan",
  other: "other build",
  nginx: "nginx stream",
};

/** What each did, with so many sessions. */
interface UdpContest {
  readonly sessions: number;
  readonly rounds: ReadonlyMap<UdpName, readonly UdpRound[]>;
}

/** Datagrams of 64 bytes both ways through one loop, with one session and with many. */
export async function measureUdp(options: ExtraOptions): Promise<Extra> {
  const echoPort = await freeUdpPort();
  const echo = await startService([process.execPath, ECHO, String(echoPort)], echoPort, echoes);
  const contests: UdpContest[] = [];
  try {
    for (const sessions of SESSIONS) contests.push(await compete(sessions, echoPort, options));
  } finally {
    await echo.stop();
  }
  return {
    text: contests.map(render).join("\n"),
    figures: contests.flatMap(figuresOf),
    values: Object.fromEntries(
      contests.flatMap(({ sessions, rounds }) =>
        [...rounds].map(([name, all]) => [
          `${LABELS[name]}, ${label(sessions)}`,
          all.map(({ rate }) => rate),
        ]),
      ),
    ),
  };
}

/** In fresh processes: sessions stay for as long as the time-out says. */
async function compete(
  sessions: number,
  echoPort: number,
  options: ExtraOptions,
): Promise<UdpContest> {
  const names: readonly UdpName[] =
    options.otherBuild === undefined ? ["portolan", "nginx"] : ["portolan", "other", "nginx"];
  const proxies = new Map<UdpName, ServiceProcess>();
  try {
    for (const name of names) proxies.set(name, await start(name, echoPort, options));
    for (const [, proxy] of proxies) await measure(proxy, sessions, options.seconds);
    const rounds = await inTurns(proxies, options.rounds, (proxy) =>
      measure(proxy, sessions, options.seconds),
    );
    return { sessions, rounds };
  } finally {
    for (const [, proxy] of proxies) await proxy.stop();
  }
}

async function start(
  name: UdpName,
  echoPort: number,
  { folder, otherBuild }: ExtraOptions,
): Promise<ServiceProcess> {
  const port = await freeUdpPort();
  const args = ["--protocol", "udp", "--servers", `127.0.0.1:${echoPort}`];
  if (name !== "nginx") {
    const build = name === "other" ? otherBuild : undefined;
    return startService(portolanLb({ port, build }, ...args), port, echoes);
  }
  const config = join(folder, "nginx-udp.conf");
  writeFileSync(config, nginxConfig(folder, port, echoPort));
  return startService(["nginx", "-c", config], port, echoes);
}

function nginxConfig(folder: string, port: number, echoPort: number): string {
  return `
load_module modules/ngx_stream_module.so;
daemon off;
worker_processes 1;
worker_rlimit_nofile 20000;
pid ${join(folder, "nginx-udp.pid")};
error_log ${join(folder, "nginx-udp.log")} crit;
events { worker_connections 19500; }
stream {
  server {
    listen 127.0.0.1:${port} udp;
    proxy_pass 127.0.0.1:${echoPort};
    proxy_timeout 15m;
  }
}
`;
}

async function measure(
  { pid, port }: ServiceProcess,
  sessions: number,
  seconds: number,
): Promise<UdpRound> {
  const before = cpuSecondsOf(pid);
  const result = await runTask(LOAD, [port, sessions, seconds].map(String));
  const { sent, received } = numbersFrom(result, ["sent", "received"]);
  const rate = (WAYS * received) / (cpuSecondsOf(pid) - before);
  return { rate, lostPercent: (PERCENT * (sent - received)) / sent };
}

/** A port that nobody has at this moment for UDP. */
async function freeUdpPort(): Promise<number> {
  const socket = createSocket("udp4");
  socket.bind(0, "127.0.0.1");
  await once(socket, "listening");
  const { port } = socket.address();
  socket.close();
  await once(socket, "close");
  return port;
}

/** Whether a datagram comes back. */
async function echoes(port: number): Promise<boolean> {
  const socket = createSocket("udp4");
  socket.on("error", () => undefined);
  try {
    const answered = once(socket, "message").then(() => true);
    socket.send("x", port, "127.0.0.1");
    return await Promise.race([answered, sleep(ANSWER_MS, false)]);
  } finally {
    socket.close();
  }
}

function render({ sessions, rounds }: UdpContest): string {
  const rows = [...rounds].map(([name, all]) => {
    const rate = Math.round(rateOf(all)).toLocaleString("en");
    return `  ${LABELS[name].padEnd(14)}${rate} a CPU-second`;
  });
  return [`datagrams of 64 bytes both ways, ${label(sessions)}`, ...rows].join("\n");
}

function figuresOf({ sessions, rounds }: UdpContest): Extra["figures"] {
  const name = `datagrams of 64 bytes both ways, ${label(sessions)}`;
  const own = rounds.get("portolan") ?? [];
  const peers = rounds.get("nginx") ?? [];
  const lost = Math.max(...own.map(({ lostPercent }) => lostPercent));
  const ratio = median(own.map(({ rate }, round) => rate / (peers[round]?.rate ?? Number.NaN)));
  return [
    {
      name: `${name}: for a CPU-second`,
      value: rateOf(own),
      unit: "datagrams",
      limit: LEAST_RATE,
      bound: "least",
    },
    { name: `${name}: to nginx'`, value: ratio, unit: "times", limit: 1, bound: "least" },
    { name: `${name}: lost`, value: lost, unit: "%", limit: MOST_LOST_PERCENT },
  ];
}

function rateOf(rounds: readonly UdpRound[]): number {
  return median(rounds.map(({ rate }) => rate));
}

function label(sessions: number): string {
  return sessions === 1 ? "1 session" : `${sessions.toLocaleString("en")} sessions`;
}
