import type { Family } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";
import {
  elementText,
  type NftChain,
  type NftContainer,
  type NftElement,
  type NftTable,
  TableScript,
} from "../../../platform/linux/nft/table-script.ts";

/** What the tables of each family hold. */
export type RedirectElements = Readonly<Record<Family, readonly NftElement[]>>;

export const NO_ELEMENTS: RedirectElements = { v4: [], v6: [] };

/** The containers, by what becomes of a call to what they hold. */
export const REDIRECT_SETS = {
  led: "led",
  rejected: "rejected",
  dropped: "dropped",
  /** Cluster IPs: nothing else is behind them. */
  owned: "owned",
} as const;

const NAME = "portolan_userspace";
const COMMENT = "Portolan leads calls of services to its proxy";

/** How an address is written in the tables of a family. */
const WORDS = {
  v4: { family: "ip", type: "ipv4_addr", daddr: "ip daddr" },
  v6: { family: "ip6", type: "ipv6_addr", daddr: "ip6 daddr" },
} as const;

/** An address as it stands in the tables: `10.96.0.10 . tcp . 80`. */
export function elementKey(ip: string, protocol: Protocol, port: number): string {
  return `${ip} . ${protocol.toLowerCase()} . ${port}`;
}

export function redirectTable(family: Family): NftTable {
  return { family: WORDS[family].family, name: NAME };
}

function containersOf(family: Family): readonly NftContainer[] {
  const { type } = WORDS[family];
  const called = `type ${type} . inet_proto . inet_service`;
  return [
    {
      name: REDIRECT_SETS.led,
      kind: "map",
      type: `${called} : ${type} . inet_service`,
      comment: "which address and port of this machine a call goes to",
    },
    {
      name: REDIRECT_SETS.rejected,
      kind: "set",
      type: called,
      comment: "ports without an endpoint",
    },
    {
      name: REDIRECT_SETS.dropped,
      kind: "set",
      type: called,
      comment: "ports without an endpoint on this node, whose policy is Local",
    },
    {
      name: REDIRECT_SETS.owned,
      kind: "set",
      type: `type ${type}`,
      comment: "cluster IPs: their other ports are closed",
    },
  ];
}

/** Chains that others jump to come first. */
function chainsOf(family: Family): readonly NftChain[] {
  const { daddr } = WORDS[family];
  const called = `${daddr} . meta l4proto . th dport`;
  const { led, rejected, dropped, owned } = REDIRECT_SETS;
  return [
    {
      name: "lead",
      comment: "calls to the proxy",
      rules: [`meta l4proto { tcp, udp } dnat to ${called} map @${led}`],
    },
    {
      name: "refuse",
      comment: "what the proxy has no server for",
      rules: [
        `meta l4proto { tcp, udp } ${called} @${dropped} drop`,
        // A reset is heard at once; TCP over IPv6 may take an ICMP error only with the next packet.
        `meta l4proto tcp ${called} @${rejected} reject with tcp reset`,
        `meta l4proto udp ${called} @${rejected} reject`,
        `meta l4proto tcp ${daddr} @${owned} reject with tcp reset`,
        `${daddr} @${owned} reject`,
      ],
    },
    base("prerouting", "type nat hook prerouting priority -100; policy accept;", "lead"),
    base("output", "type nat hook output priority -100; policy accept;", "lead"),
    base("forward_filter", "type filter hook forward priority 0; policy accept;", "refuse"),
    base("output_filter", "type filter hook output priority 0; policy accept;", "refuse"),
  ];
}

function base(name: string, hook: string, jump: string): NftChain {
  return { name, hook, comment: "where packets come in", rules: [`jump ${jump}`] };
}

/** All of a table, in place of whatever is there. */
export function fullScript(family: Family, elements: RedirectElements): string {
  const table = redirectTable(family);
  const script = new TableScript(table);
  script.addTable(COMMENT);
  script.deleteTable();
  script.addTable(COMMENT);
  for (const container of containersOf(family)) script.addContainer(container);
  const chains = chainsOf(family);
  for (const chain of chains) script.addChain(chain);
  for (const chain of chains) script.addRules(chain);
  script.addElements(elements[family]);
  return script.text();
}

/** What differs between two contents; empty where nothing does. An element that changed goes first. */
export function changesScript(
  family: Family,
  before: RedirectElements,
  after: RedirectElements,
): string {
  const old = byIdentity(before[family]);
  const now = byIdentity(after[family]);
  const script = new TableScript(redirectTable(family));
  script.deleteElements([...old].filter(([id]) => !now.has(id)).map(([, element]) => element));
  script.addElements([...now].filter(([id]) => !old.has(id)).map(([, element]) => element));
  return script.text();
}

function byIdentity(elements: readonly NftElement[]): ReadonlyMap<string, NftElement> {
  return new Map(elements.map((element) => [identityOf(element), element]));
}

/** All that an element is, as text: `led 10.96.0.10 . tcp . 80 comment "..." : ...`. */
export function identityOf(element: NftElement): string {
  return `${element.container} ${elementText(element)}`;
}

/** Takes a table away; also where there is none. */
export function removalScript(family: Family): string {
  const script = new TableScript(redirectTable(family));
  script.addTable(COMMENT);
  script.deleteTable();
  return script.text();
}
