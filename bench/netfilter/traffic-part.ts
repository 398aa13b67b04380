import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import { least, most, progress, type Setting, stateOf } from "./setting.ts";
import { argumentsOf, SYNC } from "./sync-once.ts";
import { measureTraffic, type TrafficResult } from "./traffic.ts";
import type { Caller, Load, Way } from "./traffic-site.ts";

const LEAST_SHARE = 0.9;
/** In turns with no proxy: what disturbs the machine for a while disturbs both. */
const ROUNDS_A_ROUND = 2;

/** What the services of a backend cost traffic that goes through one of them. */
export async function measureTrafficOf(
  setting: Setting,
  name: string,
  backend: string,
  flags: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const { folder, services, seconds } = setting;
  const rounds = setting.rounds * ROUNDS_A_ROUND;
  progress(`${name}: traffic through ${services} services`);
  const file = stateOf(setting, services);
  const result = await measureTraffic(folder, { rounds, seconds }, async (node) => {
    await node.runTask(SYNC, argumentsOf({ backend, file, changes: 0, flags }));
  });
  return [
    ...shares(result, "node", "small", `${name}: requests a second of the node`, LEAST_SHARE),
    ...shares(result, "node", "large", `${name}: requests for 16 KB a second`, LEAST_SHARE),
    ...shares(result, "workload", "small", `${name}: requests a second of a workload`, LEAST_SHARE),
    ...shares(result, "node", "short", `${name}: new connections a second of the node`),
    most(`${name}: until a connection of the node stands`, result.connectMicroseconds, "µs"),
    most("  the same without a proxy", result.plainMicroseconds, "µs"),
  ];
}

/** Beside no proxy at all; then what of the difference is the kernel's own, whoever writes the rules. */
function shares(
  result: TrafficResult,
  caller: Caller,
  load: Load,
  what: string,
  limit?: number,
): readonly Figure[] {
  const rounds = result.rates(caller, load);
  const share = (of: Way, to: Way) =>
    median(rounds.map((rates) => rates[of].perSecond / rates[to].perSecond));
  const cpuShare = (of: Way) =>
    median(rounds.map((rates) => rates.plain.cpuMicroseconds / rates[of].cpuMicroseconds));
  return [
    least(`${what}, to no proxy at all`, share("services", "plain"), "times", limit),
    least("  by CPU time, which other work disturbs less", cpuShare("services"), "times"),
    least("  to no proxy where flows are tracked", share("services", "tracked"), "times"),
    least("  to a single rule that translates", share("services", "rule"), "times"),
    least("  that single rule, to no proxy at all", share("rule", "plain"), "times"),
    least("  the same by CPU time", cpuShare("rule"), "times"),
    least("  tracking alone, to no proxy at all", share("tracked", "plain"), "times"),
  ];
}
