import { type ChildProcess, execFileSync, type SpawnOptions, spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";

/** The hosts of the network, each with two workloads behind a bridge. */
export const HOSTS = ["a", "b", "c"] as const;
export type HostName = (typeof HOSTS)[number];
/** A host, a workload of one (`a1`, `a2`), or the router between hosts. */
export type PartyName = HostName | `${HostName}1` | `${HostName}2` | "router";

const WORKLOADS = [1, 2] as const;
const NUMBERS: Readonly<Record<HostName, number>> = { a: 1, b: 2, c: 3 };
const SETTINGS = {
  "ipv4/ip_forward": "1",
  "ipv4/conf/all/rp_filter": "0",
  "ipv4/conf/default/rp_filter": "0",
  "ipv4/ping_group_range": "0 2147483647",
  "ipv6/conf/all/forwarding": "1",
  "ipv6/conf/default/accept_dad": "0",
  "ipv6/conf/all/accept_dad": "0",
};

/** Where a host is among the hosts, and what its workloads have. */
export const underlay = {
  v4: (host: HostName, last = 2): string => `192.168.${NUMBERS[host]}.${last}`,
  v6: (host: HostName): string => `2001:db8::${NUMBERS[host]}:2`,
};
export const overlay = {
  subnets: (host: HostName): readonly string[] => [
    `10.18.${NUMBERS[host]}.0/26`,
    `fc00::${NUMBERS[host]}00/120`,
  ],
  v4: (host: HostName, workload: 1 | 2): string => `10.18.${NUMBERS[host]}.${workload + 1}`,
  v6: (host: HostName, workload: 1 | 2): string => `fc00::${NUMBERS[host]}0${workload + 1}`,
  tun: (host: HostName): readonly string[] => [
    `10.19.1.${NUMBERS[host]}/12`,
    `fc00:ffff::${NUMBERS[host]}/7`,
  ],
};

/** Three hosts that share nothing but a router, out of network namespaces, which end with this process. Needs root. */
export class EdgeNetwork {
  readonly #namespaces = new Map<PartyName, NetworkNamespace>();
  readonly #children = new Set<ChildProcess>();

  static open(): EdgeNetwork {
    const network = new EdgeNetwork();
    try {
      network.#build();
    } catch (error) {
      network.close();
      throw error;
    }
    return network;
  }

  /** Only what is done before `work` returns is done there. */
  inside<T>(party: PartyName, work: () => T): T {
    const namespace = this.#namespaces.get(party);
    if (namespace === undefined) throw new Error(`there is no ${party}`);
    return namespace.run(work);
  }

  /** Runs a program to its end and returns what it printed. Throws where it fails. */
  exec(party: PartyName, program: string, ...args: readonly string[]): string {
    return this.inside(party, () =>
      execFileSync(program, args, { encoding: "utf8", stdio: "pipe", timeout: 20_000 }),
    );
  }

  /** Starts a program, which ends with the network at the latest. */
  spawn(
    party: PartyName,
    program: string,
    args: readonly string[],
    options: SpawnOptions = {},
  ): ChildProcess {
    return this.start(party, () => spawn(program, args, options));
  }

  /** What is started ends with the network. */
  start(party: PartyName, spawning: () => ChildProcess): ChildProcess {
    const child = this.inside(party, spawning);
    this.#children.add(child);
    return child;
  }

  ip(party: PartyName, ...lines: readonly string[]): void {
    this.inside(party, () =>
      execFileSync("ip", ["-batch", "-"], { input: lines.join("\n"), stdio: "pipe" }),
    );
  }

  close(): void {
    for (const child of this.#children) child.kill("SIGKILL");
    for (const namespace of this.#namespaces.values()) namespace.close();
  }

  #create(party: PartyName): string {
    const namespace = NetworkNamespace.create();
    this.#namespaces.set(party, namespace);
    namespace.run(() => {
      for (const [name, value] of Object.entries(SETTINGS)) {
        writeFileSync(`/proc/sys/net/${name}`, value);
      }
    });
    this.ip(party, "link set lo up");
    return namespace.path;
  }

  #build(): void {
    this.#create("router");
    for (const host of HOSTS) this.#buildHost(host, this.#create(host));
  }

  #buildHost(host: HostName, path: string): void {
    const number = NUMBERS[host];
    this.ip(
      "router",
      `link add to-${host} type veth peer name eth0 netns ${path}`,
      `addr add 192.168.${number}.1/24 dev to-${host}`,
      `addr add 2001:db8::${number}:1/112 dev to-${host} nodad`,
      `link set to-${host} up`,
    );
    this.ip(
      host,
      `addr add ${underlay.v4(host)}/24 dev eth0`,
      `addr add ${underlay.v6(host)}/112 dev eth0 nodad`,
      "link set eth0 up",
      `route add default via 192.168.${number}.1`,
      `route add ::/0 via 2001:db8::${number}:1`,
      "link add br0 type bridge",
      `addr add 10.18.${number}.1/26 dev br0`,
      `addr add fc00::${number}01/120 dev br0 nodad`,
      "link set br0 mtu 1400 up",
    );
    for (const workload of WORKLOADS) this.#buildWorkload(host, workload);
  }

  #buildWorkload(host: HostName, workload: 1 | 2): void {
    const party: PartyName = `${host}${workload}`;
    const path = this.#create(party);
    this.ip(
      host,
      `link add w${workload} mtu 1400 type veth peer name eth0 mtu 1400 netns ${path}`,
      `link set w${workload} master br0 up`,
    );
    const number = NUMBERS[host];
    this.ip(
      party,
      `addr add ${overlay.v4(host, workload)}/26 dev eth0`,
      `addr add ${overlay.v6(host, workload)}/120 dev eth0 nodad`,
      "link set eth0 up",
      `route add default via 10.18.${number}.1`,
      `route add ::/0 via fc00::${number}01`,
    );
  }
}
