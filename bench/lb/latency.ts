import { runTask } from "../support/child.ts";
import { numbersFrom } from "../support/results.ts";
import { type CompareOptions, inTurns, type Proxies, type RoundValues } from "./compare.ts";
import { LOADS, runLoad } from "./loads.ts";
import type { ProxyProcess } from "./proxies.ts";

/** The proxy whose maximum sets the rate. */
const PACE_MAKER = "haproxy";
const PART_OF_MAXIMUM = 0.5;
const TASK = new URL("./tasks/open-loop.js", import.meta.url);

export interface LatencyComparison {
  /** Requests a second. */
  readonly rate: number;
  readonly p99Ms: RoundValues;
  /** Without a proxy: where this is not far below the others, the machine is what was measured. */
  readonly directP99Ms: number;
}

/** How long requests take that come by the clock, at half of what HAProxy can do at most. */
export async function compareLatency(
  proxies: Proxies,
  options: Omit<CompareOptions, "threads"> & { readonly serverPort: number },
): Promise<LatencyComparison> {
  const [keepAlive] = LOADS;
  const paceMaker = proxies.get(PACE_MAKER);
  if (keepAlive === undefined || paceMaker === undefined) throw new Error("nobody sets the rate");
  const { requests } = await runLoad(keepAlive, paceMaker.port, options);
  const rate = Math.round((requests / options.seconds) * PART_OF_MAXIMUM);
  const measure = async ({ port }: Pick<ProxyProcess, "port">): Promise<number> => {
    const result = await runTask(TASK, [String(port), String(rate), String(options.seconds)]);
    return numbersFrom(result, ["p50Ms", "p99Ms"]).p99Ms;
  };
  const directP99Ms = await measure({ port: options.serverPort });
  return { rate, p99Ms: await inTurns(proxies, options.rounds, measure), directP99Ms };
}
