import { cpuSecondsOf } from "../support/process-tree.ts";
import { type Load, runLoad, type WrkResult } from "./loads.ts";
import type { ProxyName, ProxyProcess } from "./proxies.ts";
import type { ServiceProcess } from "./service-process.ts";

export type Proxies = ReadonlyMap<ProxyName, ProxyProcess>;

/** What was measured of each proxy, a value for each round. */
export type RoundValues<N extends string = ProxyName, V = number> = ReadonlyMap<N, readonly V[]>;

export interface Comparison {
  readonly load: Load;
  readonly threads: number;
  /** Of the proxy's own CPU time. */
  readonly perCpuSecond: RoundValues;
}

export interface CompareOptions {
  readonly threads: number;
  readonly rounds: number;
  readonly seconds: number;
  readonly folder: string;
}

/** Compares what the proxies do under a load. */
export async function compare(
  load: Load,
  proxies: Proxies,
  options: CompareOptions,
): Promise<Comparison> {
  const run = (proxy: ProxyProcess): Promise<WrkResult> =>
    runLoad(load, load.isBulk ? proxy.bulkPort : proxy.port, options);
  for (const [, proxy] of proxies) await run(proxy);
  const perCpuSecond = await inTurns(proxies, options.rounds, async (proxy) => {
    const before = cpuSecondsOf(proxy.pid);
    const result = await run(proxy);
    return load.amount(result) / (cpuSecondsOf(proxy.pid) - before);
  });
  return { load, threads: options.threads, perCpuSecond };
}

/** What `of` did to what `to` did, round by round: both sides of a ratio met the same machine. */
export function roundRatios<N extends string>(
  values: RoundValues<N>,
  of: N,
  to: N,
): readonly number[] {
  const below = values.get(to) ?? [];
  return (values.get(of) ?? []).map((value, round) => value / (below[round] ?? Number.NaN));
}

export function ratios(
  { perCpuSecond }: Comparison,
  of: ProxyName,
  to: ProxyName,
): readonly number[] {
  return roundRatios(perCpuSecond, of, to);
}

/** What each does for a CPU-second of its own, in turns, after each has had a run to get warm. */
export async function ratesInTurns<N extends string>(
  proxies: ReadonlyMap<N, ServiceProcess>,
  rounds: number,
  run: (port: number) => Promise<number>,
): Promise<RoundValues<N>> {
  for (const [, { port }] of proxies) await run(port);
  return inTurns(proxies, rounds, async ({ pid, port }) => {
    const before = cpuSecondsOf(pid);
    const amount = await run(port);
    return amount / (cpuSecondsOf(pid) - before);
  });
}

/** All proxies in turn, round by round, so that a slow moment of the machine meets each of them. */
export async function inTurns<N extends string, P, V>(
  proxies: ReadonlyMap<N, P>,
  rounds: number,
  measure: (proxy: P) => Promise<V>,
): Promise<RoundValues<N, V>> {
  const values = new Map<N, V[]>();
  for (let round = 0; round < rounds; round += 1) {
    // Who comes first changes, so that nobody always follows the same one.
    const order = round % 2 === 0 ? [...proxies] : [...proxies].reverse();
    for (const [name, proxy] of order) {
      values.set(name, [...(values.get(name) ?? []), await measure(proxy)]);
    }
  }
  return values;
}
