import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { median } from "../support/measure.ts";
import { type Pair, stopAll } from "./pair.ts";
import { receiveOverflows } from "./receive-overflows.ts";

export const LOAD_NAMES = ["tcp", "udp", "echo"] as const;

/** What a way carries; only what was asked for. */
export interface Load {
  readonly gigabits?: number;
  /** Datagrams that reached the other host. */
  readonly kilopackets?: number;
  /** Those of them that iperf3 read there, before its buffer ran over. */
  readonly kilopacketsRead?: number;
  readonly echoUs?: number;
}

const DATAGRAM_BYTES = 64;
const ECHOES = 400;
/** What a tunnel does at its start is over by then. */
const SETTLE_MS = 1000;
const BITS_A_GIGABIT = 1e9;

/** One TCP stream, then datagrams as fast as they go, then echoes; all with the tools that others use. */
export async function measureLoad(
  pair: Pair,
  to: string,
  seconds: number,
  names: ReadonlySet<string>,
): Promise<Load> {
  const server = pair.spawn("right", "iperf3", ["-s"]);
  try {
    await untilEcho(pair, to);
    return {
      ...(names.has("tcp") ? { gigabits: await gigabitsOf(pair, to, seconds) } : {}),
      ...(names.has("udp") ? await datagramsOf(pair, to, seconds) : {}),
      ...(names.has("echo") ? { echoUs: await echoUsOf(pair, to) } : {}),
    };
  } finally {
    await stopAll([server]);
  }
}

async function gigabitsOf(pair: Pair, to: string, seconds: number): Promise<number> {
  const tcp = await iperf(pair, to, ["-t", String(seconds), "-O", "1"]);
  return numberIn(sumOf(tcp, "sum_received"), "bits_per_second") / BITS_A_GIGABIT;
}

async function datagramsOf(
  pair: Pair,
  to: string,
  seconds: number,
): Promise<Pick<Load, "kilopackets" | "kilopacketsRead">> {
  const args = ["-u", "-b", "0", "-l", String(DATAGRAM_BYTES), "-t", String(seconds)];
  const before = receiveOverflows(pair, "right");
  const udp = sumOf(await iperf(pair, to, args), "sum");
  const unread = receiveOverflows(pair, "right") - before;
  const read = numberIn(udp, "packets") - numberIn(udp, "lost_packets");
  const perSecond = (count: number): number => count / numberIn(udp, "seconds") / 1000;
  return { kilopackets: perSecond(read + unread), kilopacketsRead: perSecond(read) };
}

async function iperf(pair: Pair, to: string, args: readonly string[]): Promise<unknown> {
  const child = pair.spawn("left", "iperf3", ["-c", to, "-J", ...args]);
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  await once(child, "close");
  return JSON.parse(printed);
}

function sumOf(result: unknown, name: string): unknown {
  const end = field(result, "end");
  if (end === undefined) throw new Error(`iperf3: ${String(field(result, "error"))}`);
  return field(end, name);
}

function numberIn(value: unknown, name: string): number {
  const found = field(value, name);
  if (typeof found !== "number") throw new Error(`iperf3 told no ${name}`);
  return found;
}

function field(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null
    ? Object.entries(value).find(([key]) => key === name)?.[1]
    : undefined;
}

async function untilEcho(pair: Pair, to: string): Promise<void> {
  for (let left = 50; ; left -= 1) {
    try {
      pair.exec("left", "ping", "-c", "1", "-W", "1", to);
      return;
    } catch (error) {
      if (left === 0) throw error;
      await delay(100);
    }
  }
}

async function echoUsOf(pair: Pair, to: string): Promise<number> {
  await delay(SETTLE_MS);
  const printed = pair.exec("left", "ping", "-i", "0.005", "-c", String(ECHOES), to);
  const times = [...printed.matchAll(/time=([\d.]+) ms/g)].map(([, ms]) => Number(ms) * 1000);
  return median(times);
}
