import type { IptablesMode } from "../../src/platform/linux/iptables/iptables-tool.ts";
import type { Figure } from "../support/report.ts";
import { iptablesFlags } from "./iptables-part.ts";
import { type KubeProxyMode, kubeProxyTask } from "./kube-proxy.ts";
import type { Namespace, Started } from "./namespaces.ts";
import { shareOf } from "./round-times.ts";
import { least, most, NODE, progress, type Setting, stateOf } from "./setting.ts";
import { measureTraffic, type TrafficResult } from "./traffic.ts";
import type { Load } from "./traffic-loads.ts";
import type { Caller, ServedWay, ServicesWay, Way } from "./traffic-site.ts";

const SERVE = new URL("./tasks/serve.js", import.meta.url);
const LEAST_SHARE = 0.9;

/** @param led the cgroup of workloads that are */
type OwnFlags = (led: string) => Readonly<Record<string, string>>;
const OWN_FLAGS: Readonly<Record<ServicesWay, OwnFlags>> = {
  services: () => ({}),
  rules: () => ({ directConnect: "off", fastPath: "off" }),
  workloads: (directConnectWorkloads) => ({ directConnectWorkloads }),
};

/** Who keeps the services, and what they are called where they are told. */
interface Subject {
  readonly name: string;
  readonly backend: string;
  readonly flags: Readonly<Record<string, string>>;
  /** How kube-proxy keeps the same. */
  readonly peer: readonly [mode: KubeProxyMode, tools?: IptablesMode];
}

export function measureNftablesTraffic(setting: Setting): Promise<readonly Figure[]> {
  const name = "nftables";
  return measureTrafficOf(setting, { name, backend: name, flags: {}, peer: [name] });
}

export function measureIptablesTraffic(
  setting: Setting,
  mode: IptablesMode,
): Promise<readonly Figure[]> {
  const backend = "iptables";
  const flags = iptablesFlags(mode);
  const name = `${backend}-${mode}`;
  return measureTrafficOf(setting, { name, backend, flags, peer: [backend, mode] });
}

/** What the services of a backend cost traffic that goes through one of them. */
function measureTrafficOf(
  setting: Setting,
  { name, backend, flags, peer }: Subject,
): Promise<readonly Figure[]> {
  const { folder, services, trafficRounds: rounds, warmUpRounds, hasKubeProxy } = setting;
  progress(`${name}: traffic through ${services} services`);
  const file = stateOf(setting, services);
  const serve = async (node: Namespace, way: ServedWay, led: string): Promise<Started> => {
    if (way === "kube-proxy") {
      const [mode, tools] = peer;
      const { task, args } = await kubeProxyTask(setting, mode, "stay", tools);
      progress("kube-proxy: its first sync, which may take minutes");
      return node.startTask(task, args);
    }
    const own = { ...flags, ...OWN_FLAGS[way](led) };
    const daemon = await node.startTask(SERVE, [backend, file, NODE, JSON.stringify(own)]);
    progress(daemon.line);
    return daemon;
  };
  const options = { folder, rounds, warmUpRounds, hasKubeProxy, serve };
  return measureTraffic(options, async (result) => [
    ...shares(result, "node", "small", `${name}: requests a second of the node`, LEAST_SHARE),
    ...shares(result, "node", "large", `${name}: requests for 16 KB a second`, LEAST_SHARE),
    ...shares(result, "workload", "small", `${name}: requests a second of a workload`, LEAST_SHARE),
    ...shares(result, "node", "short", `${name}: new connections a second of the node`),
    ...(await connectTimes(result, name)),
    most(`${name}: memory of the process`, result.process.residentMegabytes, "MB"),
    most(
      `${name}: CPU of the process while traffic flows`,
      result.process.cpuPercent,
      "% of a processor",
    ),
  ]);
}

async function connectTimes(result: TrafficResult, name: string): Promise<readonly Figure[]> {
  const figures: Figure[] = [];
  for (const [way, what] of [
    ["services", `${name}: until a connection of the node stands`],
    ["rules", "  the same by the rules alone"],
    ["kube-proxy", "  the same by kube-proxy"],
    ["plain", "  the same without a proxy"],
  ] as const) {
    const found = await result.connectMicroseconds(way);
    if (found !== undefined) figures.push(most(what, found, "µs"));
  }
  return figures;
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
    ...share("  by kube-proxy, to no proxy at all", "kube-proxy", "plain"),
    ...share("  to kube-proxy", "services", "kube-proxy"),
    ...share("  to no proxy where flows are tracked", "services", "tracked"),
    ...share("  to a single rule that translates", "services", "rule"),
    ...share("  that single rule, to no proxy at all", "rule", "plain"),
    ...share("  tracking alone, to no proxy at all", "tracked", "plain"),
  ];
}
