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
}

const USERSPACE_FACTS = "userspace/platform-facts.test.ts";

/** All deviations of all backends. What is not in here and comes out otherwise is a bug. */
export const DEVIATIONS: readonly Deviation[] = [
  {
    id: "userspace/cluster-ip",
    backend: "userspace",
    scenarios: /^cluster-ip\//,
    fact: "A program can only listen on addresses of its machine.",
    instead: "Cluster IPs are not served.",
    evidence: `${USERSPACE_FACTS}: a program can not listen on an address that its machine does not have`,
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
    scenarios:
      /\/(tcp|udp)\/v[46]\/eTP-Local\/(?!no-endpoints|none-ready|all-failing|only-the-other-family|no-local\/from-outside|only-local\/from-endpoint|detect-none\/from-endpoint|detect-in-the-other-family\/from-endpoint).+\/from-(outside|workload|endpoint)$/,
    fact: "A program without privileges can not send with another's address.",
    instead:
      "Endpoints see an address of this machine; the PROXY protocol can tell them the client's.",
    evidence: `${USERSPACE_FACTS}: a program can not call with an address that its machine does not have`,
  },
  {
    id: "userspace/local-policy-of-own-calls",
    backend: "userspace",
    scenarios:
      /\/(tcp|udp)\/v[46]\/eTP-Local\/(spread|no-local|local-not-ready|all-terminating|local-terminating|ranges-for-nodes|ranges-for-everybody|ranges-of-the-other-family|detect-[^/]+|masquerade-all)\/from-node$/,
    fact: "A listening socket leads to one list of endpoints, whoever calls.",
    instead:
      "With traffic policy Local this machine's own calls, too, go to endpoints on it alone.",
    evidence:
      "userspace/plan-engine.test.ts: external policy Local leaves the endpoints of this node",
  },
];

function anyOf(...patterns: readonly RegExp[]): RegExp {
  return new RegExp(patterns.map(({ source }) => source).join("|"));
}

/** Those of one backend, for its status and its documentation. */
export function deviationsOf(
  backend: string,
  table: readonly Deviation[] = DEVIATIONS,
): readonly Deviation[] {
  return table.filter((deviation) => deviation.backend === backend);
}
