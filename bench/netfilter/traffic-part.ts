import type { Figure } from "../support/report.ts";
import type { Namespace, Started } from "./namespaces.ts";
import { shareOf } from "./round-times.ts";
import { least, most, NODE, progress, type Setting, stateOf } from "./setting.ts";
import { measureTraffic, type TrafficResult } from "./traffic.ts";
import type { Load } from "./traffic-loads.ts";
import type { Caller, ServicesWay, Way } from "./traffic-site.ts";

const SERVE = new URL("./tasks/serve.js", import.meta.url);
const LEAST_SHARE = 0.9;

/** @param led the cgroup of workloads that are */
type OwnFlags = (led: string) => Readonly<Record<string, string>>;
const OWN_FLAGS: Readonly<Record<ServicesWay, OwnFlags>> = {
  services: () => ({}),
  rules: () => ({ directConnect: "off", fastPath: "off" }),
  workloads: (directConnectWorkloads) => ({ directConnectWorkloads }),
};

/** What the services of a backend cost traffic that goes through one of them. */
export function measureTrafficOf(
  setting: Setting,
  name: string,
  backend: string,
  flags: Readonly<Record<string, string>>,
): Promise<readonly Figure[]> {
  const { folder, services, trafficRounds: rounds, warmUpRounds } = setting;
  progress(`${name}: traffic through ${services} services`);
  const file = stateOf(setting, services);
  const serve = async (node: Namespace, way: ServicesWay, led: string): Promise<Started> => {
    const own = { ...flags, ...OWN_FLAGS[way](led) };
    const daemon = await node.startTask(SERVE, [backend, file, NODE, JSON.stringify(own)]);
    progress(daemon.line);
    return daemon;
  };
  return measureTraffic({ folder, rounds, warmUpRounds, serve }, async (result) => [
    ...shares(result, "node", "small", `${name}: requests a second of the node`, LEAST_SHARE),
    ...shares(result, "node", "large", `${name}: requests for 16 KB a second`, LEAST_SHARE),
    ...shares(result, "workload", "small", `${name}: requests a second of a workload`, LEAST_SHARE),
    ...shares(result, "node", "short", `${name}: new connections a second of the node`),
    most(
      `${name}: until a connection of the node stands`,
      await result.connectMicroseconds("services"),
      "µs",
    ),
    most("  the same by the rules alone", await result.connectMicroseconds("rules"), "µs"),
    most("  the same without a proxy", await result.connectMicroseconds("plain"), "µs"),
    most(`${name}: memory of the process`, result.process.residentMegabytes, "MB"),
    most(
      `${name}: CPU of the process while traffic flows`,
      result.process.cpuPercent,
      "% of a processor",
    ),
  ]);
}

/** Beside no proxy at all; then what of the difference is the kernel's own, whoever writes the rules. */
function shares(
  result: TrafficResult,
  caller: Caller,
  load: Load,
  what: string,
  limit?: number,
): readonly Figure[] {
  const rounds = result.rounds(caller, load);
  const share = (name: string, of: Way, to: Way, bound?: number): readonly Figure[] => {
    const found = shareOf(rounds, of, to);
    if (found === undefined) return [];
    return [{ ...least(name, found.value, "times", bound), interval: found.interval }];
  };
  return [
    ...share(`${what}, to no proxy at all`, "services", "plain", limit),
    ...share("  a second node without a proxy, to no proxy at all", "again", "plain"),
    ...share("  led to endpoints at once, to no proxy at all", "workloads", "plain"),
    ...share("  by the rules alone, to no proxy at all", "rules", "plain"),
    ...share("  to no proxy where flows are tracked", "services", "tracked"),
    ...share("  to a single rule that translates", "services", "rule"),
    ...share("  that single rule, to no proxy at all", "rule", "plain"),
    ...share("  tracking alone, to no proxy at all", "tracked", "plain"),
  ];
}
