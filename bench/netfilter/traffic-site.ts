import { allowedProcessors } from "../support/allowed-processors.ts";
import { numberFrom } from "../support/results.ts";
import { stolenSeconds } from "../support/stolen-time.ts";
import { join, Namespace } from "./namespaces.ts";

/** The service that traffic goes to, beside all others. */
export const TARGET_IP = "10.99.255.1";
export const TARGET_PORT = 80;
export const SERVER_PORT = 8080;
const CONNECTS = 1000;
const CONNECTIONS = 64;
/**
 * Callers and server share a processor, which is never idle then, so that requests a second follow what a request
 * costs. With one each, they wait for each other asleep, and tracking alone came out at up to 1.19 times no proxy.
 */
const PROCESSOR: number = allowedProcessors().at(-1) ?? 0;
export const ON_ONE_PROCESSOR: readonly string[] = ["taskset", "--cpu-list", String(PROCESSOR)];
/** Where the networks of cables to workloads begin. */
const WORKLOADS = "10.251";

/**
 * What a node has between its callers and the server: the services as users have them, the same by rules
 * alone, the same with workloads that are led at once, the same by the fast path, the one rule that no translation can do without,
 * nothing but the tracking of flows, or nothing at all.
 */
export type Way = ServicesWay | "rule" | "tracked" | "plain";
export type ServicesWay = "services" | "rules" | "workloads" | "fast";

/** The number of each one's cable to the server. */
const CABLES: Readonly<Record<Way, number>> = {
  services: 1,
  plain: 2,
  rule: 3,
  tracked: 4,
  rules: 5,
  workloads: 6,
  fast: 7,
};

/** Who calls: the node itself, or a workload of it, whose packets it forwards. */
export type Caller = "node" | "workload";

/** Answers of some bytes or of 16 KB over connections that stand, or of some bytes over new ones. */
export type Load = "small" | "large" | "short";

export const LARGE_PATH = "large";
export const LARGE_BYTES = 16_384;
const HEADERS: Readonly<Record<Load, readonly string[]>> = {
  small: [],
  large: [],
  short: ["-H", "Connection: close"],
};

const IN_CGROUP = 'echo $$ > "$0/cgroup.procs" && exec "$@"';

/** A node and its workload, with a way to the server. */
export class Site {
  readonly node: Namespace = Namespace.create();
  readonly #workload = Namespace.create();
  readonly #target: string;
  readonly #port: number;
  readonly #before: readonly string[];

  /** @param cgroup of its callers, where they need one of their own */
  constructor(way: Way, server: Namespace, cgroup?: string) {
    this.#before = [
      ...(cgroup === undefined ? [] : ["sh", "-c", IN_CGROUP, cgroup]),
      ...ON_ONE_PROCESSOR,
    ];
    const number = CABLES[way];
    const { near } = join(this.node, server, { number });
    const inner = join(this.#workload, this.node, { number, network: WORKLOADS });
    server.run("ip", "route", "add", inner.near, "via", near);
    this.node.run("sysctl", "-qw", "net.ipv4.ip_forward=1");
    const isTranslated = way !== "plain" && way !== "tracked";
    [this.#target, this.#port] = isTranslated
      ? [TARGET_IP, TARGET_PORT]
      : [serverIp(way), SERVER_PORT];
    if (way === "rule") this.node.timeMs("nft", ["-f", "-"], BARE_RULE);
    if (way === "tracked") this.node.timeMs("nft", ["-f", "-"], TRACKING);
  }

  /** @returns requests a second of the processor, without what others of the same machine had of it */
  request(caller: Caller, load: Load, seconds: number): number {
    const from = caller === "node" ? this.node : this.#workload;
    const path = load === "large" ? LARGE_PATH : "";
    const url = `http://${this.#target}:${this.#port}/${path}`;
    const args = ["-t1", `-c${CONNECTIONS}`, `-d${seconds}s`, ...HEADERS[load], url];
    const [program = "", ...rest] = [...this.#before, "wrk", ...args];
    const stolenBefore = stolenSeconds(PROCESSOR);
    const output = from.run(program, ...rest);
    const stolen = stolenSeconds(PROCESSOR) - stolenBefore;
    const [, count, elapsed] = /(\d+) requests in ([\d.]+)s/.exec(output) ?? [];
    if (count === undefined || /Non-2xx|Socket errors/.test(output)) {
      throw new Error(`wrk to ${url} failed:\n${output}`);
    }
    return Number(count) / (Number(elapsed) - stolen);
  }

  async connectTime(): Promise<number> {
    const task = new URL("./tasks/connect-times.js", import.meta.url);
    const args = [this.#target, String(this.#port), String(CONNECTS)];
    return numberFrom(await this.node.runTask(task, args, this.#before));
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
