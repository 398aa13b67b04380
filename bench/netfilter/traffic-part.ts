import { median } from "../support/measure.ts";
import type { Figure } from "../support/report.ts";
import { least, most, NODE, progress, type Setting, stateOf } from "./setting.ts";
import { measureTraffic, type TrafficResult } from "./traffic.ts";
import type { Caller, Load, ServicesWay, Way } from "./traffic-site.ts";

const SERVE = new URL("./tasks/serve.js", import.meta.url);
const LEAST_SHARE = 0.9;

/** @param workloads the cgroup of those that are led */
type OwnFlags = (workloads: string) => Readonly<Record<string, string>>;
const OWN_FLAGS: Readonly<Record<ServicesWay, OwnFlags>> = {
  services: () => ({}),
  rules: () => ({ directConnect: "off" }),
  workloads: (directConnectWorkloads) => ({ directConnectWorkloads }),
  fast: () => ({ fastPath: "on" }),
};

/** What the services of a backend cost traffic that goes through one of them. */
export function measureTrafficOf(
  setting: Setting,
  name: string,
  backend: string,
  flags: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const { folder, services, loads } = setting;
  progress(`${name}: traffic through ${services} services`);
  const file = stateOf(setting, services);
  return measureTraffic(
    folder,
    loads,
    async (node, way, workloads) => {
      const own = { ...flags, ...OWN_FLAGS[way](workloads) };
      const daemon = await node.startTask(SERVE, [backend, file, NODE, JSON.stringify(own)]);
      progress(daemon.line);
      return daemon;
    },
    async (result) => [
      ...shares(result, "node", "small", `${name}: requests a second of the node`, LEAST_SHARE),
      ...shares(result, "node", "large", `${name}: requests for 16 KB a second`, LEAST_SHARE),
      ...shares(
        result,
        "workload",
        "small",
        `${name}: requests a second of a workload`,
        LEAST_SHARE,
      ),
      ...shares(result, "node", "short", `${name}: new connections a second of the node`),
      most(
        `${name}: until a connection of the node stands`,
        await result.connectMicroseconds("services"),
        "µs",
      ),
      most("  the same by the rules alone", await result.connectMicroseconds("rules"), "µs"),
      most("  the same without a proxy", await result.connectMicroseconds("plain"), "µs"),
    ],
  );
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
  const has = (...ways: readonly Way[]) => ways.every((way) => rounds[0]?.has(way));
  const share = (name: string, of: Way, to: Way, bound?: number): readonly Figure[] => {
    if (!has(of, to)) return [];
    const ratios = rounds.map((rates) => (rates.get(of) ?? 0) / (rates.get(to) ?? 0));
    return [least(name, median(ratios), "times", bound)];
  };
  return [
    ...share(`${what}, to no proxy at all`, "services", "plain", limit),
    ...share("  by the fast path, to no proxy at all", "fast", "plain", limit),
    ...share("  led to endpoints at once, to no proxy at all", "workloads", "plain", limit),
    ...share("  by the rules alone, to no proxy at all", "rules", "plain"),
    ...share("  to no proxy where flows are tracked", "services", "tracked"),
    ...share("  to a single rule that translates", "services", "rule"),
    ...share("  that single rule, to no proxy at all", "rule", "plain"),
    ...share("  tracking alone, to no proxy at all", "tracked", "plain"),
  ];
}
