import { FAMILIES, type Family } from "../../src/core/model/address.ts";
import { type Addresses, TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";

/**
 * Who has a network namespace of its own. The other nodes have their workloads with them; `beyond` is
 * the rest of the world: what the node under test sends on, since it is not for anybody here, ends there.
 */
export type PartyName =
  | "node-a"
  | "client-a"
  | "web-a"
  | "node-b"
  | "node-c"
  | "outside"
  | "beyond";

/** Those around the node under test, each with a link to it. */
type Neighbour = Exclude<PartyName, "node-a">;

interface Link {
  readonly party: Neighbour;
  /** At the node under test. Those of its workloads begin with `veth`, as on real nodes. */
  readonly device: string;
  /** What lies behind it, beside the link itself. */
  readonly networks: readonly string[];
}

const { nodes, workloads, secondary, outside } = TOPOLOGY;

const both = (addresses: Addresses): readonly string[] =>
  FAMILIES.map((family) => addresses[family]);

/** From where calls come that are not part of the cluster: each may be another client's. */
const OUTSIDE_NETWORKS: Addresses = { v4: "192.168.200.0/24", v6: "fd00:200::/64" };

const LINKS: readonly Link[] = [
  { party: "client-a", device: "veth-client-a", networks: both(workloads["client-a"].addresses) },
  { party: "web-a", device: "veth-web-a", networks: both(workloads["web-a"].addresses) },
  {
    party: "node-b",
    device: "eth-node-b",
    networks: [...both(nodes["node-b"].addresses), ...both(nodes["node-b"].subnets)],
  },
  {
    party: "node-c",
    device: "eth-node-c",
    networks: [...both(nodes["node-c"].addresses), ...both(nodes["node-c"].subnets)],
  },
  { party: "outside", device: "eth-outside", networks: both(OUTSIDE_NETWORKS) },
  { party: "beyond", device: "eth-beyond", networks: ["0.0.0.0/0", "::/0"] },
];

/** What a party may send from and be called at. */
export const OWN_ADDRESSES: Readonly<Record<PartyName, readonly string[]>> = {
  "node-a": [...both(nodes["node-a"].addresses), ...both(secondary)],
  "client-a": both(workloads["client-a"].addresses),
  "web-a": both(workloads["web-a"].addresses),
  "node-b": [...both(nodes["node-b"].addresses), ...both(workloads["web-b"].addresses)],
  "node-c": [...both(nodes["node-c"].addresses), ...both(workloads["web-c"].addresses)],
  outside: both(outside),
  beyond: [],
};

export const PARTIES: readonly PartyName[] = ["node-a", ...LINKS.map(({ party }) => party)];

/** Networks that a party has all addresses of. */
const ANY_ADDRESS_OF: Readonly<Partial<Record<PartyName, readonly string[]>>> = {
  outside: both(OUTSIDE_NETWORKS),
  beyond: ["0.0.0.0/0", "::/0"],
};

/**
 * Lines for `ip -batch`, to be run inside the node under test. Its own addresses are on none of the
 * links: a masqueraded packet carries the address of a link, which tells it from one that was not.
 * @param namespaceOf the path of a party's namespace
 */
export function planNodeUnderTest(namespaceOf: (party: PartyName) => string): readonly string[] {
  return [
    "link set lo up",
    ...OWN_ADDRESSES["node-a"].map(onLoopback),
    ...LINKS.flatMap(({ party, device, networks }, index) => [
      `link add ${device} type veth peer name eth0 netns ${namespaceOf(party)}`,
      ...FAMILIES.map((family) => linkAddress(index, family, "node", device)),
      `link set ${device} up`,
      ...networks.map((network) => via(network, index, "party")),
    ]),
  ];
}

/** Lines for `ip -batch`, to be run inside the other parties: all they send goes to the node. */
export function planNeighbour(party: PartyName): readonly string[] {
  const index = LINKS.findIndex((link) => link.party === party);
  const elsewhere = party === "beyond" ? CLUSTER_NETWORKS : ["0.0.0.0/0", "::/0"];
  return [
    "link set lo up",
    ...OWN_ADDRESSES[party].map(onLoopback),
    ...FAMILIES.map((family) => linkAddress(index, family, "party", "eth0")),
    "link set eth0 up",
    ...elsewhere.map((network) => via(network, index, "node")),
    ...(ANY_ADDRESS_OF[party] ?? []).map(
      (network) => `route add local ${network} dev lo table main`,
    ),
  ];
}

/** Everything that has a place here. */
const CLUSTER_NETWORKS: readonly string[] = [
  ...both(TOPOLOGY.clusterCidrs),
  ...both(OUTSIDE_NETWORKS),
  ...OWN_ADDRESSES["node-a"],
  ...both(nodes["node-b"].addresses),
  ...both(nodes["node-c"].addresses),
];

function onLoopback(address: string): string {
  return `address add ${address} dev lo`;
}

type LinkEnd = "node" | "party";

function linkIp(index: number, family: Family, end: LinkEnd): string {
  const host = end === "node" ? 1 : 2;
  return family === "v4" ? `10.99.${index}.${host}` : `fd00:99:${index}::${host}`;
}

function linkAddress(index: number, family: Family, end: LinkEnd, device: string): string {
  const length = family === "v4" ? 24 : 64;
  const flags = family === "v6" ? " nodad" : "";
  return `address add ${linkIp(index, family, end)}/${length} dev ${device}${flags}`;
}

function via(network: string, index: number, end: LinkEnd): string {
  const family = network.includes(":") ? "v6" : "v4";
  return `route add ${network} via ${linkIp(index, family, end)}`;
}

/** Settings under /proc/sys/net of each party, made before its links are. */
export const SETTINGS: readonly (readonly [string, string])[] = [
  ["ipv4/conf/all/rp_filter", "0"],
  ["ipv4/conf/default/rp_filter", "0"],
  ["ipv4/conf/all/send_redirects", "0"],
  ["ipv4/conf/default/send_redirects", "0"],
  ["ipv4/icmp_ratelimit", "0"],
  ["ipv6/icmp/ratelimit", "0"],
  ["ipv6/conf/all/disable_ipv6", "0"],
  ["ipv6/conf/default/disable_ipv6", "0"],
  ["ipv6/conf/all/accept_dad", "0"],
  ["ipv6/conf/default/accept_dad", "0"],
];

/** Of the node under test; a program's own calls leave the ports alone that tests call from. */
export const NODE_SETTINGS: readonly (readonly [string, string])[] = [
  ["ipv4/ip_forward", "1"],
  ["ipv6/conf/all/forwarding", "1"],
  ["ipv4/ip_local_port_range", "30100 32999"],
];
