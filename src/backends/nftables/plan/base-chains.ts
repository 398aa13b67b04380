import type { NftChain } from "../../../platform/linux/nft/table-script.ts";
import { REFUSE } from "./chains.ts";
import { NAMES } from "./containers.ts";
import type { TableFacts } from "./table-facts.ts";

/** The chains that are always there: where packets come in, and where they are told apart. */
export function baseChains(facts: TableFacts): readonly NftChain[] {
  const { nft, mark } = facts;
  return [
    {
      name: REFUSE,
      comment: "tells the client at once that nobody answers",
      rules: ["reject with tcp reset", "reject"],
    },
    {
      name: "dispatch",
      comment: "the first packet of a connection: to which service, if to any",
      rules: [
        `${nft} daddr . meta l4proto . th dport vmap @${NAMES.services}`,
        `${nft} daddr @${NAMES.clusterIPs} goto ${REFUSE}`,
      ],
    },
    {
      name: "prerouting",
      hook: "type nat hook prerouting priority dstnat; policy accept;",
      comment: "connections from outside and from workloads",
      rules: ["jump dispatch"],
    },
    {
      name: "output",
      hook: "type nat hook output priority -100; policy accept;",
      comment: "connections of this node itself",
      rules: ["jump dispatch"],
    },
    {
      name: "postrouting",
      hook: "type nat hook postrouting priority srcnat; policy accept;",
      comment: "masquerades what was marked, and endpoints that call themselves",
      rules: [
        "ct status dnat meta priority set none",
        `meta mark & ${mark} != 0x00000000 meta mark set meta mark ^ ${mark} masquerade fully-random`,
        `ct status dnat ${nft} saddr . ${nft} daddr @${NAMES.hairpins} masquerade fully-random`,
      ],
    },
    ...loopbackGuard(facts),
  ];
}

/** With route_localnet, others on the network could reach what listens on loopback only. */
function loopbackGuard({ family, servesLoopback }: TableFacts): readonly NftChain[] {
  if (family === "v6" || !servesLoopback) return [];
  return [
    {
      name: "loopback-guard",
      hook: "type filter hook input priority filter; policy accept;",
      comment: "keeps others away from loopback, which route_localnet opens",
      rules: [
        "ip daddr 127.0.0.0/8 ip saddr != 127.0.0.0/8 ct status ! dnat ct state ! established,related drop",
      ],
    },
  ];
}
