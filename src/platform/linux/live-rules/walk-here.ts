import type { Packet } from "../../../core/route/packet.ts";
import { findDoubts } from "./find-doubts.ts";
import { type LiveWorld, readLiveFacts, routesTo } from "./read-live-facts.ts";
import type { LiveRuleset } from "./ruleset.ts";
import { type LiveOutcome, walkRuleset } from "./walk-ruleset.ts";

/** Where a packet comes to on this machine, and how sure that is. */
export interface LiveWalk {
  /** All ways that it can go, if it begins a flow. */
  readonly outcomes: readonly LiveOutcome[];
  /** What is not known and could matter; empty where the packet can not come to where it should not. */
  doubts(isRight: (outcomes: readonly LiveOutcome[]) => boolean): readonly string[];
}

/** Follows a packet through rules, asking for what they want to know of the machine. */
export async function walkHere(
  rules: LiveRuleset,
  packet: Packet,
  world: Pick<LiveWorld, "exec" | "ownAddresses">,
): Promise<LiveWalk> {
  const known = await readLiveFacts(packet, world);
  const asked = new Set<string>();
  // Where rules send packets is known only when they were followed.
  walkRuleset(rules, packet, {
    ...known,
    interfaceOf: (ip) => {
      const link = known.interfaceOf(ip);
      if (link === undefined) asked.add(ip);
      return link;
    },
  });
  const routes = await routesTo(world.exec, asked);
  const facts = { ...known, interfaceOf: (ip: string) => known.interfaceOf(ip) ?? routes.get(ip) };
  const unread = (rules.unreadTables ?? []).map(
    (table) => `table ${table}, which takes nft to be read`,
  );
  return {
    outcomes: walkRuleset(rules, packet, facts),
    doubts: (isRight) => [...unread, ...findDoubts(rules, packet, facts, isRight)],
  };
}
