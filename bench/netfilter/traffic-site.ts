import { allowedProcessors } from "../support/allowed-processors.ts";
import { numberFrom } from "../support/results.ts";
import { join, Namespace } from "./namespaces.ts";

/** The service that traffic goes to, beside all others. */
export const TARGET_IP = "10.99.255.1";
export const TARGET_PORT = 80;
export const SERVER_PORT = 8080;
const CONNECTS = 1000;
/**
 * Callers and server share a processor, which is never idle then, so that requests a second follow what a request
 * costs. With one each, they wait for each other asleep, and tracking alone came out at up to 1.19 times no proxy.
 */
export const ON_ONE_PROCESSOR: readonly string[] = [
  "taskset",
  "--cpu-list",
  String(allowedProcessors().at(-1) ?? 0),
];
/** Where the networks of cables to workloads begin. */
const WORKLOADS = "10.251";

/**
 * What a node has between its callers and the server: the services as users have them, the same by rules
 * alone, the same with workloads that are led at once, the same by kube-proxy, the one rule that no translation
 * can do without, nothing but the tracking of flows, or nothing at all; and that again, for what differs by chance.
 */
export type Way = ServedWay | "rule" | "tracked" | "plain" | "again";
/** Somebody has to keep the services. */
export type ServedWay = ServicesWay | "kube-proxy";
/** By Portolan. */
export type ServicesWay = "services" | "rules" | "workloads";
const WITHOUT_SERVICE: ReadonlySet<Way> = new Set<Way>(["plain", "again", "tracked"]);

/** The number of each one's cable to the server. */
const CABLES: Readonly<Record<Way, number>> = {
  services: 1,
  plain: 2,
  rule: 3,
  tracked: 4,
  rules: 5,
  workloads: 6,
  again: 7,
  "kube-proxy": 8,
};

/** Who calls: the node itself, or a workload of it, whose packets it forwards. */
export type Caller = "node" | "workload";

/** A node and its workload, with a way to the server. */
export class Site {
  readonly node: Namespace = Namespace.create();
  readonly #workload = Namespace.create();
  /** What they call. */
  readonly ip: string;
  readonly port: number;

  constructor(way: Way, server: Namespace) {
    const number = CABLES[way];
    const { near } = join(this.node, server, { number });
    const inner = join(this.#workload, this.node, { number, network: WORKLOADS });
    server.run("ip", "route", "add", inner.near, "via", near);
    this.node.run("sysctl", "-qw", "net.ipv4.ip_forward=1");
    [this.ip, this.port] = WITHOUT_SERVICE.has(way)
      ? [serverIp(way), SERVER_PORT]
      : [TARGET_IP, TARGET_PORT];
    if (way === "rule") this.node.timeMs("nft", ["-f", "-"], BARE_RULE);
    if (way === "tracked") this.node.timeMs("nft", ["-f", "-"], TRACKING);
  }

  /** The path of the namespace that they call from. */
  namespaceOf(caller: Caller): string {
    return (caller === "node" ? this.node : this.#workload).path;
  }

  async connectTime(): Promise<number> {
    const task = new URL("./tasks/connect-times.js", import.meta.url);
    const args = [this.ip, String(this.port), String(CONNECTS)];
    return numberFrom(await this.node.runTask(task, args, ON_ONE_PROCESSOR));
  }

  remove(): void {
    this.#workload.remove();
    this.node.remove();
  }
}

const TRANSLATE = `ip daddr ${TARGET_IP} tcp dport ${TARGET_PORT} dnat to ${serverIp("rule")}:${SERVER_PORT}`;
const BARE_RULE = `table ip bare {
  chain in { type nat hook prerouting priority -100; ${TRANSLATE}; }
  chain out { type nat hook output priority -100; ${TRANSLATE}; }
}
`;

/** That a rule asks for the state of flows is enough: no packet needs to meet it. */
const TRACKING = `table ip tracking {
  chain unused { ct state established accept; }
}
`;

/** Where the server is for a node. */
export function serverIp(way: Way): string {
  return `10.250.${CABLES[way]}.2`;
}
