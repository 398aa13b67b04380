/** Something that a data plane can not do as the reference semantics say. */
export interface Deviation {
  /** Unique, such as `hcn/affinity-timeout`. */
  readonly id: string;
  /** Name of the backend. */
  readonly backend: string;
  /** The names of the scenarios that come out otherwise; all of them, and no others. */
  readonly scenarios: RegExp;
  /** What the platform forbids, as a sentence. */
  readonly fact: string;
  /** What happens in place of what the reference says, as a sentence. */
  readonly instead: string;
  /** The test that shows the platform refusing: `FILE: NAME`. */
  readonly evidence: string;
  /** The option of the backend with which it does not hold: `--redirect`. */
  readonly unless?: string;
}

const USERSPACE_FACTS = "userspace/platform-facts.test.ts";
const IPTABLES_FACTS = "iptables/platform-facts.test.ts";
const IPVS_FACTS = "test/ipvs/guest/platform-facts.ts";
const HCN_FACTS = "hcn/platform-facts.test.ts";
const EDGE_FACTS = "test/netns/edge-facts.test.ts";
const NFTABLES_FACTS = "nftables/platform-facts.test.ts";

/** All deviations of all backends. What is not in here and comes out otherwise is a bug. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    id: "userspace/cluster-ip",
    backend: "userspace",
    scenarios: /^cluster-ip\//,
    fact: "A program can only listen on addresses of its machine.",
    instead: "Cluster IPs are not served.",
    evidence: `${USERSPACE_FACTS}: a program can not listen on an address that its machine does not have`,
    unless: "--redirect",
  },
  {
    id: "userspace/edge-ip",
    backend: "userspace",
    scenarios: /^edge-ip\//,
    fact: "A program can only listen on addresses of its machine.",
    instead: "Edge addresses are not served.",
    evidence: `${USERSPACE_FACTS}: a program can not listen on an address that its machine does not have`,
  },
  {
    id: "userspace/sctp",
    backend: "userspace",
    scenarios: /^[^/]+\/sctp\//,
    fact: "Node has no SCTP sockets, and few machines load SCTP into their kernel.",
    instead: "SCTP is not served.",
    evidence: `${USERSPACE_FACTS}: there are no SCTP sockets`,
  },
  {
    id: "userspace/drop",
    backend: "userspace",
    scenarios: anyOf(
      /^[^/]+\/tcp\/v[46]\/eTP-Local\/(no-local|local-not-ready|local-one-of-the-other-family)\/from-outside$/,
      /^load-balancer-ip\/tcp\/v[46]\/(eTP-\w+\/)?ranges-for-nobody\//,
      /^load-balancer-ip\/tcp\/v[46]\/eTP-\w+\/ranges-for-outside\/from-(?!outside)/,
      /^load-balancer-ip\/tcp\/v[46]\/eTP-\w+\/ranges-for-workloads\/from-(outside|node)$/,
      /^load-balancer-ip\/tcp\/v[46]\/eTP-\w+\/ranges-for-nodes\/from-(?!node)/,
      /^load-balancer-ip\/tcp\/v[46]\/ranges-for-outside\/source-is-the-address\//,
      /^listen-address\/tcp\/v[46]\/guard-(denies|rule-for|missing)/,
    ),
    fact: "The system completes a TCP handshake before a program sees the client.",
    instead: "What should be dropped is closed at once.",
    evidence: `${USERSPACE_FACTS}: a TCP handshake is completed while the program does nothing`,
  },
  {
    id: "userspace/source",
    backend: "userspace",
    scenarios: anyOf(
      /^(?!cluster-ip)[^/]+\/(tcp|udp)\/v[46]\/eTP-Local\/(?!no-endpoints|none-ready|all-failing|only-the-other-family|no-local\/from-outside|only-local\/from-endpoint|detect-none\/from-endpoint|detect-in-the-other-family\/from-endpoint).+\/from-(outside|workload|endpoint)$/,
      /^cluster-ip\/(tcp|udp)\/v[46]\/iTP-Cluster\/(spread|no-local|only-local|local-[^/]+|all-terminating|(zone|node)-hints[^/]*|detect-[^/]+)\/from-workload$/,
      /^cluster-ip\/(tcp|udp)\/v[46]\/iTP-Local\/(spread|only-local|all-terminating|local-terminating|(zone|node)-hints[^/]*|detect-[^/]+)\/from-workload$/,
      /^cluster-ip\/(tcp|udp)\/v[46]\/iTP-Cluster\/(spread|local-not-ready|all-terminating|local-terminating|detect-[^/]+)\/from-endpoint$/,
      /^cluster-ip\/(tcp|udp)\/v[46]\/iTP-\w+\/detect-(none|in-the-other-family)\/from-(outside|node)$/,
    ),
    fact: "A program without privileges can not send with another's address.",
    instead:
      "Endpoints see an address of this machine; the PROXY protocol can tell them the client's.",
    evidence: `${USERSPACE_FACTS}: a program can not call with an address that its machine does not have`,
  },
  {
    id: "iptables/edge-ip",
    backend: "iptables",
    scenarios: /^edge-ip\//,
    fact: "Rules change where a packet is sent, but carry it to no machine that no route leads to.",
    instead: "Edge addresses are left to the backend edge.",
    evidence: `${IPTABLES_FACTS}: a packet that is sent elsewhere still needs a route to there`,
  },
  {
    id: "iptables/loopback-v6",
    backend: "iptables",
    scenarios: anyOf(
      /^node-port\/tcp\/v6\/node-ports-on-localhost\/to-loopback\//,
      /^listen-address\/tcp\/v6\/on-(?:any-address-to-)?loopback\//,
    ),
    fact: "Linux takes no packet for ::1 from another interface than loopback: IPv6 has no route_localnet.",
    instead: "Nothing is served on ::1.",
    evidence: `${IPTABLES_FACTS}: an answer to what was sent from ::1 does not come back`,
  },
  {
    id: "nftables/edge-ip",
    backend: "nftables",
    scenarios: /^edge-ip\//,
    fact: "Rules change where a packet is sent, but carry it to no machine that no route leads to.",
    instead: "Edge addresses are left to the backend edge.",
    evidence: `${NFTABLES_FACTS}: a packet that is sent elsewhere still needs a route to there`,
  },
  {
    id: "nftables/loopback-v6",
    backend: "nftables",
    scenarios: anyOf(
      /^node-port\/tcp\/v6\/node-ports-on-localhost\/to-loopback\//,
      /^listen-address\/tcp\/v6\/on-(?:any-address-to-)?loopback\//,
    ),
    fact: "Linux takes no packet for ::1 from another interface than loopback: IPv6 has no route_localnet.",
    instead: "Nothing is served on ::1.",
    evidence: `${NFTABLES_FACTS}: an answer to what was sent from ::1 does not come back`,
  },
  {
    id: "ipvs/edge-ip",
    backend: "ipvs",
    scenarios: /^edge-ip\//,
    fact: "IPVS changes where a packet is sent, but carries it to no machine that no route leads to.",
    instead: "Edge addresses are left to the backend edge.",
    evidence: `${IPVS_FACTS}: a packet that is sent elsewhere still needs a route to there`,
  },
  {
    id: "ipvs/loopback",
    backend: "ipvs",
    scenarios: anyOf(
      /^node-port\/tcp\/v[46]\/node-ports-on-localhost\/to-loopback\//,
      /^listen-address\/tcp\/v[46]\/on-(?:any-address-to-)?loopback\//,
    ),
    fact: "IPVS sends nothing from a loopback address to another machine.",
    instead: "Nothing is served on 127.0.0.1 and ::1.",
    evidence: `${IPVS_FACTS}: what is sent from 127.0.0.1 does not leave the machine`,
  },
  {
    id: "ipvs/other-ports",
    backend: "ipvs",
    scenarios: /^(external-ip|load-balancer-ip)\/tcp\/v[46]\/wrong-(port|protocol)\//,
    fact: "IPVS takes only packets for addresses that the machine has.",
    instead:
      "This machine has the external and load-balancer addresses of services, and rejects calls of their other ports.",
    evidence: `${IPVS_FACTS}: a virtual server on an address that the machine does not have serves nobody`,
  },
  {
    id: "ipvs/affinity-timeout",
    backend: "ipvs",
    scenarios: /\/affinity-over\//,
    fact: "IPVS keeps a client with its server as long as it remembers any of its connections, which is minutes after their end.",
    instead: "A client stays with its endpoint for the time-out and some minutes more.",
    evidence: `${IPVS_FACTS}: a client stays with its server beyond the time-out`,
  },
  {
    id: "edge/other-addresses",
    backend: "edge",
    scenarios: /^(?!edge-ip\/)/,
    fact: "What is for an address of the machine itself never comes into a tunnel.",
    instead:
      "Only edge addresses are served; --to nftables beside it serves the others, whose packets pass through the tunnel as well.",
    evidence: `${EDGE_FACTS}: a packet for an address of the machine does not reach a tunnel that a route leads to`,
  },
  {
    id: "hcn/edge-ip",
    backend: "hcn",
    scenarios: /^edge-ip\//,
    fact: "Load balancers send to endpoints of a network, and carry to no machine beyond it.",
    instead: "Edge addresses are left to the backend edge.",
    evidence: `${HCN_FACTS}: a load balancer takes no endpoint that HNS does not have`,
  },
  {
    id: "hcn/listen-address",
    backend: "hcn",
    scenarios: /^listen-address\//,
    fact: "Load balancers know no access lists, and answer on addresses of services and node ports.",
    instead: "Listeners are not served; --to userspace serves them beside it.",
    evidence: `${HCN_FACTS}: a load balancer has no field for weights, time-outs or who may call`,
  },
  {
    id: "hcn/affinity-timeout",
    backend: "hcn",
    scenarios: /\/affinity-over\//,
    fact: "Distribution by source address has no time-out.",
    instead: "Clients stay with their endpoint as long as it is there.",
    evidence: `${HCN_FACTS}: a load balancer has no field for weights, time-outs or who may call`,
  },
  {
    id: "hcn/source-ranges",
    backend: "hcn",
    scenarios: /^(?!edge-ip|listen-address).*\/(ranges-|source-is-the-address)/,
    fact: "Load balancers know no access lists.",
    instead: "Everyone may call load-balancer addresses.",
    evidence: `${HCN_FACTS}: a load balancer has no field for weights, time-outs or who may call`,
  },
  {
    id: "hcn/weights",
    backend: "hcn",
    scenarios: /\/weights-/,
    fact: "Load balancers know no weights.",
    instead: "Endpoints are chosen evenly; those of weight 0 are left out.",
    evidence: `${HCN_FACTS}: a load balancer has no field for weights, time-outs or who may call`,
  },
  {
    id: "hcn/nobody",
    backend: "hcn",
    scenarios: anyOf(
      /^(cluster-ip|external-ip|load-balancer-ip|node-port)\/\w+\/v[46]\/[ie]TP-\w+\/(no-endpoints|none-ready|all-failing|only-the-other-family)\//,
      /^(cluster-ip|external-ip|load-balancer-ip|node-port)\/\w+\/v[46]\/[ie]TP-Local\/(no-local|local-not-ready|local-one-of-the-other-family)\//,
      /^cluster-ip\/.*\/wrong-(port|protocol)\//,
    ),
    fact: "There is no load balancer without endpoints, and none that refuses.",
    instead: "Packets to an address that nobody serves go their way untouched.",
    evidence: `${HCN_FACTS}: a load balancer takes no endpoint that HNS does not have`,
  },
  {
    id: "hcn/node-port-addresses",
    backend: "hcn",
    scenarios: anyOf(
      /^node-port\/tcp\/v[46]\/node-ports-on-primary\/to-secondary\//,
      /^node-port\/tcp\/v[46]\/node-ports-on-one-network\/to-primary\//,
      /^node-port\/tcp\/v[46]\/node-ports-on-localhost\//,
    ),
    fact: "A load balancer for a node port has no address: HNS takes those of the node.",
    instead: "Node ports answer on every address of the node but loopback.",
    evidence: `${HCN_FACTS}: a node port has one load balancer, without an address`,
  },
  {
    id: "hcn/external-local",
    backend: "hcn",
    scenarios: anyOf(
      /^(external-ip|load-balancer-ip|node-port)\/\w+\/v[46]\/eTP-Local\/(spread|all-terminating|local-terminating|masquerade-all|detect-by-[^/]+|zone-hints[^/]*|node-hints-for-others)\/from-workload$/,
      /^(external-ip|load-balancer-ip|node-port)\/\w+\/v[46]\/eTP-Local\/(spread|all-terminating|local-terminating|only-local|masquerade-all|detect-[^/]+)\/from-(endpoint|node)$/,
    ),
    fact: "A load balancer has one list of endpoints, and one way to treat sources, for all its clients.",
    instead:
      "With external traffic policy Local also workloads and the node are sent to endpoints of this node only, which see their addresses.",
    evidence: `${HCN_FACTS}: whether sources are kept is said for a load balancer, not for a client`,
  },
  {
    id: "hcn/source",
    backend: "hcn",
    scenarios: anyOf(
      /^cluster-ip\/\w+\/v[46]\/iTP-Cluster\/(spread|no-local|only-local|local-[^/]+|all-terminating|(zone|node)-hints[^/]*|detect-[^/]+)\/from-workload$/,
      /^cluster-ip\/\w+\/v[46]\/iTP-Local\/(spread|only-local|all-terminating|local-terminating|(zone|node)-hints[^/]*|detect-[^/]+)\/from-workload$/,
      /^cluster-ip\/\w+\/v[46]\/iTP-Cluster\/(spread|local-not-ready|all-terminating|local-terminating|detect-[^/]+)\/from-endpoint$/,
      /^cluster-ip\/\w+\/v[46]\/iTP-\w+\/detect-(none|in-the-other-family)\/from-(outside|node)$/,
    ),
    fact: "Without direct server return HNS takes the place of every client, with it of none.",
    instead: "Endpoints see an address of the switch for clients of cluster IPs.",
    evidence: `${HCN_FACTS}: whether sources are kept is said for a load balancer, not for a client`,
    unless: "--enable-dsr",
  },
];

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"));
}

/** For people. */
export function describeDeviation({ fact, instead, unless }: Deviation): string {
  return unless === undefined ? `${fact} ${instead}` : `${fact} ${instead} (Not with ${unless}.)`;
}

/** Those of one backend, for its status and its documentation. */
export function deviationsOf(
  backend: string,
  table: readonly Deviation[] = DEVIATIONS,
): readonly Deviation[] {
  return table.filter((deviation) => deviation.backend === backend);
}
