import type { Endpoint } from "../model/endpoint.ts";
import type { ExclusionReason, Selection } from "../view/select.ts";
import type { RouteNode } from "./route-node.ts";
import type { Scope } from "./scope.ts";

const WORDS: Readonly<Record<ExclusionReason, string>> = {
  "other-family": "it has no address of the packet's family",
  "port-not-served": "it does not serve this port",
  duplicate: "another endpoint has the same address and port",
  "not-ready": "it is not ready",
  "socket-elsewhere": "it is a unix socket of another node",
  terminating: "it is terminating, and others are ready",
  "hinted-elsewhere": "its topology hints name other places",
};

/** Why an endpoint is not in the list that a packet chooses from, in words. */
export function whyNotListed(
  endpoint: Endpoint,
  selection: Selection,
  list: Scope["list"],
  node: RouteNode,
): string {
  const why = selection.excluded.get(endpoint);
  switch (why) {
    case "other-family":
    case "port-not-served":
    case "duplicate":
    case "socket-elsewhere":
      return WORDS[why];
    default:
      if (list === "local" && endpoint.node !== node.name) return "it is not on this node";
      // Without a reason it is in the other list: what holds for this node, not for the cluster.
      return WORDS[why ?? (endpoint.ready ? "hinted-elsewhere" : "terminating")];
  }
}
