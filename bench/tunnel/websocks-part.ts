import { execFileSync } from "node:child_process";
import { chmodSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { startHttpServers } from "../lb/http-servers.ts";
import { PORTOLAN, portolanLb } from "../lb/portolan-command.ts";
import { freePort, type ServiceProcess, startService } from "../lb/service-process.ts";
import { runTask } from "../support/child.ts";
import { median } from "../support/measure.ts";
import { cpuSecondsOf } from "../support/process-tree.ts";
import type { Figure } from "../support/report.ts";
import { numbersFrom } from "../support/results.ts";
import type { PartOptions, PartResult } from "./part.ts";

const TASK = new URL("./tasks/websocks-load.js", import.meta.url);
const BYTES_A_GIGABYTE = 1e9;
const BULK_CONNECTIONS = 8;
const TUNNELS = 1000;
const PLAIN = "TcpLB";
/** Two of them in a row, as agent and server are: a place has its own price, whoever is in it. */
const IN_A_ROW = { agent: "TcpLB before another", server: "TcpLB behind another" } as const;

/** The processes that the bytes pass through, by their names; clients call the first. */
interface Chain {
  readonly way: "plain" | "socks5";
  readonly processes: ReadonlyMap<string, ServiceProcess>;
}

/** Bulk bytes for a CPU-second of either end of tunnels, beside a plain TcpLB; and many tunnels at once. */
export async function measureWebsocks(options: PartOptions): Promise<PartResult> {
  // The workers of nginx run as another user where we are root.
  chmodSync(options.folder, 0o755);
  const stops: (() => Promise<void>)[] = [];
  try {
    const servers = await startHttpServers(options.folder);
    stops.push(servers.stop);
    const [serverPort = 0] = servers.ports;
    const chains = await startChains(options.folder, serverPort, stops);
    const rates = await measureBulk(chains, serverPort, options);
    const ws = chains.find(({ processes }) => processes.has("agent, ws"));
    const answers = ws === undefined ? 0 : await callMany(ws, serverPort);
    return report(rates, answers);
  } finally {
    for (const stop of stops.reverse()) await stop();
  }
}

async function startChains(
  folder: string,
  serverPort: number,
  stops: (() => Promise<void>)[],
): Promise<readonly Chain[]> {
  const start = async (
    port: number,
    command: readonly string[],
    accept?: (port: number) => Promise<boolean>,
  ): Promise<ServiceProcess> => {
    const service = await startService(command, port, accept);
    stops.push(service.stop);
    return service;
  };
  const password = join(folder, "password");
  writeFileSync(password, "bench\n");
  const { cert, key } = makeCertificate(folder);
  const port = await freePort();
  const startLb = (at: number, to: number): Promise<ServiceProcess> =>
    start(at, portolanLb({ port: at }, "--servers", `127.0.0.1:${to}`));
  const lb = await startLb(port, serverPort);
  const behind = await startLb(await freePort(), serverPort);
  const before = await startLb(await freePort(), behind.port);
  const tunnel = async (scheme: "ws" | "wss"): Promise<Chain> => {
    const isSecure = scheme === "wss";
    const [at, agentAt] = [await freePort(), await freePort()];
    const own = ["--loops", "1", "--password-file", password];
    const tls = isSecure ? ["--tls-cert", cert, "--tls-key", key] : [];
    const listen = ["websocks", "server", "--listen", String(at), "--user", "bench"];
    const server = await start(
      at,
      [...PORTOLAN, ...listen, ...own, ...tls],
      isSecure ? settle : undefined,
    );
    const to = [
      "--server",
      `${scheme}://bench@127.0.0.1:${at}`,
      ...(isSecure ? ["--ca", cert] : []),
    ];
    const agentListen = ["websocks", "agent", "--listen", String(agentAt)];
    const agent = await start(agentAt, [...PORTOLAN, ...agentListen, ...own, ...to], (one) =>
      reaches(one, serverPort),
    );
    return {
      way: "socks5",
      processes: new Map([
        [`agent, ${scheme}`, agent],
        [`server, ${scheme}`, server],
      ]),
    };
  };
  return [
    { way: "plain", processes: new Map([[PLAIN, lb]]) },
    {
      way: "plain",
      processes: new Map([
        [IN_A_ROW.agent, before],
        [IN_A_ROW.server, behind],
      ]),
    },
    await tunnel("ws"),
    await tunnel("wss"),
  ];
}

/** What speaks TLS is asked by its agent. */
async function settle(): Promise<boolean> {
  return true;
}

/** Agents are asked until they reach the target, which says that the server runs. */
async function reaches(port: number, serverPort: number): Promise<boolean> {
  if (!(await takesConnections(port))) return false;
  try {
    return (
      (await load("socks5", port, serverPort, { seconds: 0, connections: 1, path: "/small" }))
        .answers === 1
    );
  } catch {
    return false;
  }
}

function takesConnections(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

interface LoadOptions {
  readonly seconds: number;
  readonly connections: number;
  readonly path: string;
}

async function load(
  way: Chain["way"],
  port: number,
  serverPort: number,
  { seconds, connections, path }: LoadOptions,
): Promise<Readonly<Record<"bytes" | "answers", number>>> {
  const args = [way, port, serverPort, seconds, connections, path].map(String);
  return numbersFrom(await runTask(TASK, args), ["bytes", "answers"]);
}

async function measureBulk(
  chains: readonly Chain[],
  serverPort: number,
  { rounds, seconds }: PartOptions,
): Promise<ReadonlyMap<string, readonly number[]>> {
  const rates = new Map<string, number[]>();
  const bulk = { seconds, connections: BULK_CONNECTIONS, path: "/bulk" };
  // One round more than is counted: to get warm. Who comes first changes.
  for (let round = -1; round < rounds; round += 1) {
    for (const { way, processes } of round % 2 === 0 ? chains : [...chains].reverse()) {
      const [port = 0] = [...processes.values()].map((process) => process.port);
      const before = [...processes.values()].map(({ pid }) => cpuSecondsOf(pid));
      const { bytes } = await load(way, port, serverPort, bulk);
      for (const [index, [name, { pid }]] of [...processes].entries()) {
        const rate = bytes / BYTES_A_GIGABYTE / (cpuSecondsOf(pid) - (before[index] ?? 0));
        if (round >= 0) rates.set(name, [...(rates.get(name) ?? []), rate]);
      }
    }
  }
  return rates;
}

async function callMany({ way, processes }: Chain, serverPort: number): Promise<number> {
  const [port = 0] = [...processes.values()].map((process) => process.port);
  const small = { seconds: 0, connections: TUNNELS, path: "/small" };
  return (await load(way, port, serverPort, small)).answers;
}

function report(rates: ReadonlyMap<string, readonly number[]>, answers: number): PartResult {
  const rows = [...rates].map(
    ([name, all]) => `  ${name.padEnd(22)}${median(all).toPrecision(3)} GB a CPU-second`,
  );
  const beside = (name: string, all: readonly number[], reference: string): Figure => {
    const others = rates.get(reference) ?? [];
    const value = median(all.map((rate, round) => rate / (others[round] ?? Number.NaN)));
    const limit = name.endsWith(", ws") ? { limit: 0.9, bound: "least" as const } : {};
    const title = `WebSocks, bulk bytes for a CPU-second, ${name}: to a ${reference}`;
    return { name: title, value, unit: "times", ...limit };
  };
  const figures = [...rates]
    .filter(([name]) => name.includes(", ws"))
    .flatMap(([name, all]) => [
      beside(name, all, PLAIN),
      beside(name, all, name.startsWith("agent") ? IN_A_ROW.agent : IN_A_ROW.server),
    ]);
  const many: Figure = {
    name: "WebSocks, tunnels open at once, each with its answer",
    value: answers,
    unit: "tunnels",
    limit: TUNNELS,
    bound: "least",
  };
  return {
    text: ["WebSocks, bulk bytes", ...rows].join("\n"),
    figures: [...figures, many],
    values: { ...Object.fromEntries(rates), tunnels: [answers] },
  };
}

function makeCertificate(folder: string): { readonly cert: string; readonly key: string } {
  const [cert, key] = [join(folder, "tunnel.pem"), join(folder, "tunnel.key")];
  const names = ["-subj", "/CN=tunnel", "-addext", "subjectAltName=IP:127.0.0.1"];
  const curve = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  execFileSync("openssl", ["req", "-x509", ...curve, ...names, "-keyout", key, "-out", cert], {
    stdio: "ignore",
  });
  return { cert, key };
}
