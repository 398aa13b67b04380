import type { Family } from "../../../core/model/address.ts";
import {
  type DestinationState,
  destinationId,
  serverId,
  type VirtualServerState,
} from "../../../wire/netlink/ipvs/virtual-server.ts";
import type { HookName, LiveChain, LiveRule, PacketField, Step } from "./ruleset.ts";

/** A virtual server with its real ones. */
export interface LiveServer {
  readonly server: VirtualServerState;
  readonly destinations: readonly DestinationState[];
}

/** Where IPVS takes packets, and after which rules: ip_vs_ops in net/netfilter/ipvs/ip_vs_core.c. */
const PLACES: readonly { readonly name: HookName; readonly priority: number }[] = [
  { name: "input", priority: 98 },
  { name: "output", priority: -98 },
];

/** The virtual servers of one family, as chains that a packet passes. Those by marks come first. */
export function ipvsChains(family: Family, servers: readonly LiveServer[]): readonly LiveChain[] {
  const own = servers.filter(({ server }) => server.family === family);
  const byMark = own.filter(({ server: { place } }) => "mark" in place);
  const byAddress = own.filter(({ server: { place } }) => "ip" in place);
  const rules = [...byMark, ...byAddress].map(leadTo);
  const families = [family];
  return [
    ...PLACES.map(({ name, priority }): LiveChain => {
      const hook = { name, priority, isNat: false, isIpvs: true, policy: "accept" } as const;
      return { id: `IPVS at ${name}`, families, hook, rules };
    }),
    ...own.map(
      (one): LiveChain => ({
        id: serverId(one.server),
        families,
        hook: undefined,
        rules: shareOut(one.destinations),
      }),
    ),
  ];
}

function leadTo({ server }: LiveServer): LiveRule {
  const { place } = server;
  const matches =
    "mark" in place
      ? [equals("mark", place.mark)]
      : [
          equals("protocol", place.protocol.toLowerCase()),
          equals("dst", place.ip),
          equals("dstPort", place.port),
        ];
  const chain = serverId(server);
  return {
    text: `virtual server ${chain}`,
    steps: [...matches, { kind: "verdict", verdict: { kind: "jump", chain } }],
  };
}

function equals(field: PacketField, value: string | number): Step {
  return {
    kind: "match",
    left: { kind: "field", field },
    right: { kind: "pattern", pattern: { kind: "value", value } },
    isNegated: false,
  };
}

/** Each takes its share of what those before it left; where nobody takes anything, calls are refused. */
function shareOut(destinations: readonly DestinationState[]): readonly LiveRule[] {
  let left = destinations.reduce((sum, { weight }) => sum + weight, 0);
  const rules: LiveRule[] = [];
  for (const one of destinations) {
    if (one.weight === 0) continue;
    const { ip: address, port } = one;
    const probability = one.weight / left;
    left -= one.weight;
    const steps: readonly Step[] = [
      { kind: "chance", probability },
      { kind: "send-on", address, port },
    ];
    rules.push({ text: `to ${destinationId(one)} with weight ${one.weight}`, steps });
  }
  const refusal: Step = { kind: "reject", protocol: undefined };
  return [...rules, { text: "no real server takes it", steps: [refusal] }];
}
