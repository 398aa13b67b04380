import type { NftChain } from "../../../platform/linux/nft/table-script.ts";
import { MISSED, REFUSE } from "./chains.ts";
import { NAMES } from "./containers.ts";
import type { TableFacts } from "./table-facts.ts";

/** The chains that are always there: where packets come in, and where they are told apart. */
export function baseChains(facts: TableFacts): readonly NftChain[] {
  const { nft, mark, isMarked } = facts;
  return [
    {
      name: REFUSE,
      comment: "tells the client at once that nobody answers",
      rules: ["reject with tcp reset", "reject"],
    },
    {
      name: "dispatch",
      comment: "the first packet of a connection: to which service, if to any",
      rules: [`${nft} daddr . meta l4proto . th dport vmap @${NAMES.services}`],
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
    secondTry("prerouting-again", "prerouting priority dstnat + 1", facts),
    secondTry("output-again", "output priority -99", facts),
    {
      name: "postrouting",
      hook: "type nat hook postrouting priority srcnat; policy accept;",
      comment: "masquerades what was marked, and endpoints that call themselves",
      rules: [
        "ct status dnat meta priority set none",
        `${isMarked} meta mark set meta mark ^ ${mark} masquerade fully-random`,
        `ct status dnat ${nft} saddr . ${nft} daddr @${NAMES.hairpins} masquerade fully-random`,
      ],
    },
    ...loopbackGuard(facts),
  ];
}

/**
 * A packet keeps the rules that it came in with, but looks elements up as they are at that moment. In
 * the middle of a change it may be led to a chain that was empty before, or to elements that are gone.
 * Each base chain begins with the rules of its moment: here it meets all of the state after. Nobody is
 * refused before.
 */
function secondTry(name: string, place: string, { nft }: TableFacts): NftChain {
  return {
    name,
    hook: `type nat hook ${place}; policy accept;`,
    comment: "once more for who came in the middle of a change, and what no service has",
    rules: [
      "jump dispatch",
      `meta priority ${MISSED} drop`,
      `${nft} daddr @${NAMES.clusterIPs} goto ${REFUSE}`,
    ],
  };
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
