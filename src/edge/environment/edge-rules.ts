import { FAMILIES, type Family } from "../../core/model/address.ts";
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

const WORDS = {
  v4: { family: "ip", type: "ipv4_addr", icmp: "icmp", loopback: "127.0.0.0/8" },
  v6: { family: "ip6", type: "ipv6_addr", icmp: "icmpv6", loopback: "::1" },
} as const;

function edgeTable(family: Family): NftTable {
  return { family: WORDS[family].family, name: NAME };
}

/** One transaction after which the tables hold exactly this, whatever they held before. */
export function renderRules(
  plan: NodePlan,
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

function tableText(family: Family, plan: NodePlan, ports: readonly PublishedPort[]): string {
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
  for (const chain of chainsOf(family, plan)) {
    script.addChain(chain);
    script.addRules(chain);
  }
  return script.text();
}

function chainsOf(family: Family, plan: NodePlan): readonly NftChain[] {
  const { bridge, tun, subnets } = plan;
  const ip = WORDS[family].family;
  const { icmp, loopback } = WORDS[family];
  const subnet = subnets[family].text;
  const lead = `fib daddr type local ${ip} daddr != ${loopback} meta l4proto { tcp, udp } dnat ${ip} to meta l4proto . th dport map @${PORTS}`;
  return [
    {
      name: "arriving",
      hook: "type nat hook prerouting priority -100; policy accept;",
      comment: "calls to a published port",
      rules: [lead],
    },
    {
      name: "own",
      hook: "type nat hook output priority -100; policy accept;",
      comment: "the same, of this machine",
      rules: [lead],
    },
    {
      name: "leaving",
      hook: "type nat hook postrouting priority 100; policy accept;",
      comment: "workloads speak as this node to others",
      rules: [
        // A workload that answers another one of this bridge must answer by way of this node.
        `${ip} saddr ${subnet} oifname "${bridge}" ct status dnat masquerade`,
        `${ip} saddr ${subnet} oifname != { "${bridge}", "${tun}", "lo" } masquerade`,
      ],
    },
    {
      name: "passing",
      hook: "type filter hook forward priority 0; policy accept;",
      comment: "nobody outside reaches a workload but by a published port or the tunnel",
      rules: [
        // Also while there is no tunnel: what is for another node is sealed, or not sent.
        `iifname "${bridge}" oifname != { "${bridge}", "${tun}" } ${ip} daddr @${PEERS} reject with ${icmp} type admin-prohibited`,
        `oifname "${bridge}" ct state established,related accept`,
        `oifname "${bridge}" iifname { "${bridge}", "${tun}" } accept`,
        `oifname "${bridge}" ct status dnat accept`,
        `oifname "${bridge}" reject with ${icmp} type admin-prohibited`,
      ],
    },
  ];
}
