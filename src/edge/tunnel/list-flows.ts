import { formatSocketAddress, ipAddress } from "../../platform/socket-address.ts";
import { type AddressWords, ipOfWords } from "../../wire/ip/address-words.ts";
import type { Flow } from "../flows/flow.ts";
import type { TunnelFlow } from "./tunnel-messages.ts";

/** The first flows of some, as they are shown. */
export function listFlows(flows: Iterable<Flow<unknown>>, limit: number): readonly TunnelFlow[] {
  const listed: TunnelFlow[] = [];
  for (const flow of flows) {
    if (listed.length >= limit) break;
    const { source, destination, ports } = flow.plan.asked;
    listed.push({
      protocol: flow.plan.protocol,
      source: endOf(source, ports >>> 16),
      destination: endOf(destination, ports & 0xffff),
      service: flow.instance.service,
      instance: flow.instance.number,
      node: flow.instance.node,
      state: flow.state,
    });
  }
  return listed;
}

function endOf(words: AddressWords, port: number): string {
  return formatSocketAddress(ipAddress(ipOfWords(words), port));
}
