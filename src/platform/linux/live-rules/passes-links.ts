import type { LiveFacts, LivePacket } from "./live-packet.ts";
import type { LiveHook } from "./ruleset.ts";

/** Whether a packet meets the chain of a hook; undefined where nobody knows which link it passes. */
export function passesLinks(
  hook: LiveHook | undefined,
  packet: LivePacket,
  facts: LiveFacts,
): boolean | undefined {
  const links = hook?.links;
  if (links === undefined) return true;
  const link = packet.linkAt(hook?.name === "ingress" ? "ingress" : "egress");
  if (link === undefined) return undefined;
  const beneath = facts.linksBeneath(link);
  // By which port it comes, and whether it comes to the bridge's own chains, is not told by routes.
  if (links === "bridges") return beneath.size === 0 ? false : undefined;
  if (links.includes(link)) return true;
  return links.some((each) => beneath.has(each)) ? undefined : false;
}
