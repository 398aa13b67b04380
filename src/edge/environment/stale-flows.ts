import { cidrContains, familyOf } from "../../core/model/address.ts";
import type { Flow } from "../../wire/netlink/conntrack/flow.ts";
import type { NodePlan, PublishedPort } from "./edge-network.ts";

/** What is published at this moment, and whose the machine's addresses are. */
export interface FlowTruth {
  readonly subnets: NodePlan["subnets"];
  readonly ports: readonly PublishedPort[];
  readonly ownAddresses: ReadonlySet<string>;
}

/**
 * Whether a flow of UDP is followed to where its port no longer leads: to a workload that went, or to
 * the machine itself, from before it was published. As long as its packets come, the kernel keeps it.
 */
export function isStale(flow: Flow, { subnets, ports, ownAddresses }: FlowTruth): boolean {
  const { original, reply, isDestinationNat } = flow;
  const target = ports.find(
    ({ protocol, hostPort }) => protocol === "udp" && hostPort === original.dstPort,
  );
  const family = familyOf(original.dst);
  if (isDestinationNat) {
    const isOurs = cidrContains(subnets[family], reply.src) && ownAddresses.has(original.dst);
    return isOurs && target?.addresses[family] !== reply.src;
  }
  return target !== undefined && ownAddresses.has(original.dst);
}

/** The UDP ports of which flows may be stale, once the second took the place of the first. */
export function changedPorts(
  before: readonly PublishedPort[],
  after: readonly PublishedPort[],
): readonly number[] {
  const udp = (ports: readonly PublishedPort[]) =>
    new Map(
      ports
        .filter(({ protocol }) => protocol === "udp")
        .map(({ hostPort, port, addresses }) => [hostPort, `${port} ${addresses.v4}`]),
    );
  const [old, now] = [udp(before), udp(after)];
  const all = new Set([...old.keys(), ...now.keys()]);
  return [...all].filter((port) => old.get(port) !== now.get(port));
}
