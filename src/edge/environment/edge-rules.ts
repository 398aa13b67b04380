import { type Cidr, FAMILIES, type Family, familyOf } from "../../core/model/address.ts";
import {
  type NftChain,
  type NftTable,
  TableScript,
} from "../../platform/linux/nft/table-script.ts";
import type { NodePlan, PublishedPort } from "./edge-network.ts";

const NAME = "portolan_edge";
const COMMENT = "Portolan connects the workloads of this node";
const PORTS = "ports";
const PEERS = "peers";
const INGRESS = "ingress";
const INGRESS_ANY = "ingress_any";
const WILDCARDS: ReadonlySet<string> = new Set(["0.0.0.0", "::"]);

const WORDS = {
  v4: { family: "ip", type: "ipv4_addr", icmp: "icmp", loopback: "127.0.0.0/8" },
  v6: { family: "ip6", type: "ipv6_addr", icmp: "icmpv6", loopback: "::1" },
} as const;

function edgeTable(family: Family): NftTable {
  return { family: WORDS[family].family, name: NAME };
}

/** What the rules of a node stand on. */
export interface RulesPlan
  extends Pick<NodePlan, "tun" | "serviceRanges" | "peerNetworks" | "ingress" | "egress"> {
  /** Undefined where workloads are connected by others. */
  readonly bridge: string | undefined;
  /** Of the workloads here. */
  readonly networks: readonly Cidr[];
  /** Of this node in these networks. */
  readonly addresses: Partial<Readonly<Record<Family, string>>>;
}

export function rulesPlanOf(plan: NodePlan): RulesPlan {
  return { ...plan, networks: [plan.subnets.v4, plan.subnets.v6] };
}

/** One transaction after which the tables hold exactly this, whatever they held before. */
export function renderRules(
  plan: RulesPlan,
  ports: readonly PublishedPort[],
  families: readonly Family[] = FAMILIES,
): string {
  return families.map((family) => tableText(family, plan, ports)).join("");
}

/** Removes the tables, also where they are not there. */
export function renderRemoval(families: readonly Family[] = FAMILIES): string {
  return families.map((family) => emptied(family).text()).join("");
}

function emptied(family: Family): TableScript {
  const script = new TableScript(edgeTable(family));
  // Deleting what is absent is an error; adding what is there is not.
  script.addTable(COMMENT);
  script.deleteTable();
  return script;
}

function tableText(family: Family, plan: RulesPlan, ports: readonly PublishedPort[]): string {
  const script = emptied(family);
  script.addTable(COMMENT);
  const { type } = WORDS[family];
  script.addContainer({
    name: PORTS,
    kind: "map",
    type: `type inet_proto . inet_service : ${type} . inet_service`,
    comment: "which workload a port of this node leads to",
  });
  script.addElements(
    ports.map(({ protocol, hostPort, port, addresses }) => ({
      container: PORTS,
      key: `${protocol} . ${hostPort}`,
      value: `${addresses[family]} . ${port}`,
    })),
  );
  script.addContainer({
    name: PEERS,
    kind: "set",
    type: `type ${type}`,
    properties: ["flags interval", "auto-merge"],
    comment: "the networks of other nodes, and of services",
  });
  const networks = new Set([...plan.serviceRanges, ...plan.peerNetworks]);
  script.addElements(
    [...networks]
      .filter((network) => network.family === family)
      .map(({ text }) => ({ container: PEERS, key: text })),
  );
  addIngress(script, family, plan);
  for (const chain of chainsOf(family, plan)) {
    script.addChain(chain);
    script.addRules(chain);
  }
  return script.text();
}

function addIngress(script: TableScript, family: Family, { ingress = [] }: RulesPlan): void {
  const { type } = WORDS[family];
  const target = `${type} . inet_service`;
  const own = ingress.filter(({ to }) => familyOf(to) === family);
  script.addContainer({
    name: INGRESS,
    kind: "map",
    type: `type ${type} . inet_proto . inet_service : ${target}`,
    comment: "which service an address and port of this node lead to",
  });
  script.addContainer({
    name: INGRESS_ANY,
    kind: "map",
    type: `type inet_proto . inet_service : ${target}`,
    comment: "the same, on all addresses of this node",
  });
  script.addElements(
    own.map(({ address, protocol, port, to, toPort }) => {
      const isAny = WILDCARDS.has(address);
      return {
        container: isAny ? INGRESS_ANY : INGRESS,
        key: isAny ? `${protocol} . ${port}` : `${address} . ${protocol} . ${port}`,
        value: `${to} . ${toPort}`,
      };
    }),
  );
}

/** Who may not call is gone before it is led on. */
function guardRules(family: Family, { ingress = [] }: RulesPlan): readonly string[] {
  const ip = WORDS[family].family;
  const verdicts = { allow: "accept", deny: "drop" } as const;
  return ingress.flatMap(({ address, protocol, port, to, guard }) => {
    if (guard === undefined || familyOf(to) !== family) return [];
    const on = WILDCARDS.has(address) ? "fib daddr type local" : `${ip} daddr ${address}`;
    const called = `${on} ${protocol} dport ${port}`;
    return [
      ...guard.entries.map(
        ({ network, access }) => `${called} ${ip} saddr ${network} ${verdicts[access]}`,
      ),
      `${called} ${verdicts[guard.otherwise]}`,
    ];
  });
}

/** Of what workloads begin: answers go where they are asked for. */
function egressRules(family: Family, plan: RulesPlan, reject: string): readonly string[] {
  const { bridge, tun, egress } = plan;
  if (egress === undefined || bridge === undefined) return [];
  const ip = WORDS[family].family;
  const out = `iifname "${bridge}" oifname != { "${bridge}", "${tun}" } ct direction original ct state new`;
  const denied = networksText(family, egress.deny);
  const allowed = networksText(family, egress.allow);
  const rest = egress.allow.length === 0 ? [] : [`${out} ${reject}`];
  return [
    ...(denied === undefined ? [] : [`${out} ${ip} daddr ${denied} ${reject}`]),
    ...(allowed === undefined ? rest : [`${out} ${ip} daddr != ${allowed} ${reject}`]),
  ];
}

function chainsOf(family: Family, plan: RulesPlan): readonly NftChain[] {
  const ip = WORDS[family].family;
  const { loopback } = WORDS[family];
  const lead = `fib daddr type local ${ip} daddr != ${loopback} meta l4proto { tcp, udp } dnat ${ip} to meta l4proto . th dport map @${PORTS}`;
  const leads = [
    `meta l4proto { tcp, udp } dnat ${ip} to ${ip} daddr . meta l4proto . th dport map @${INGRESS}`,
    lead,
    lead.replace(`@${PORTS}`, `@${INGRESS_ANY}`),
  ];
  const own = networksText(family, plan.networks);
  const guards = guardRules(family, plan);
  const guard = "who may call a published service";
  return [
    {
      name: "guarding",
      hook: "type filter hook prerouting priority -110; policy accept;",
      comment: guard,
      rules: guards,
    },
    {
      name: "guarding-own",
      hook: "type filter hook output priority -110; policy accept;",
      comment: guard,
      rules: guards,
    },
    {
      name: "arriving",
      hook: "type nat hook prerouting priority -100; policy accept;",
      comment: "calls to a published port or service",
      rules: leads,
    },
    {
      name: "own",
      hook: "type nat hook output priority -100; policy accept;",
      comment: "the same, of this machine",
      rules: leads,
    },
    {
      name: "leaving",
      hook: "type nat hook postrouting priority 100; policy accept;",
      comment: "workloads speak as this node to others, and others as this node to services",
      rules: own === undefined ? [] : leavingRules(family, plan, own),
    },
    {
      name: "passing",
      hook: "type filter hook forward priority 0; policy accept;",
      comment:
        "nobody outside reaches a workload or a service but by a published port or the tunnel",
      rules: own === undefined ? [] : passingRules(family, plan, own),
    },
  ];
}

function leavingRules(family: Family, plan: RulesPlan, own: string): readonly string[] {
  const { bridge, tun, addresses } = plan;
  const ip = WORDS[family].family;
  const rules: string[] = [];
  if (bridge !== undefined) {
    rules.push(
      // A workload that answers another one of this bridge must answer by way of this node.
      `${ip} saddr ${own} oifname "${bridge}" ct status dnat masquerade`,
      `${ip} saddr ${own} oifname != { "${bridge}", "${tun}", "lo" } masquerade`,
    );
  }
  const address = addresses[family];
  // Other nodes take only what comes from the networks of workloads.
  if (address !== undefined)
    rules.push(`oifname "${tun}" ${ip} saddr != ${own} snat to ${address}`);
  return rules;
}

function passingRules(family: Family, plan: RulesPlan, own: string): readonly string[] {
  const { bridge, tun } = plan;
  const ip = WORDS[family].family;
  const reject = `reject with ${WORDS[family].icmp} type admin-prohibited`;
  const sent = bridge === undefined ? `${ip} saddr ${own}` : `iifname "${bridge}"`;
  const foreign = bridge === undefined ? `${ip} saddr != ${own}` : `iifname != "${bridge}"`;
  const elsewhere = bridge === undefined ? `!= "${tun}"` : `!= { "${bridge}", "${tun}" }`;
  const rules = [
    // Also while there is no tunnel: what is for another node is sealed, or not sent.
    `${sent} oifname ${elsewhere} ${ip} daddr @${PEERS} ${reject}`,
    `oifname "${tun}" iifname "${tun}" accept`,
    `oifname "${tun}" ${foreign} ct status dnat accept`,
    `oifname "${tun}" ${foreign} ${reject}`,
  ];
  if (bridge === undefined) return rules;
  return [
    ...rules,
    ...egressRules(family, plan, reject),
    `oifname "${bridge}" ct state established,related accept`,
    `oifname "${bridge}" iifname { "${bridge}", "${tun}" } accept`,
    `oifname "${bridge}" ct status dnat accept`,
    `oifname "${bridge}" ${reject}`,
  ];
}

function networksText(family: Family, networks: readonly Cidr[]): string | undefined {
  const texts = networks.filter((network) => network.family === family).map(({ text }) => text);
  if (texts.length === 0) return undefined;
  return texts.length === 1 ? texts[0] : `{ ${texts.join(", ")} }`;
}
