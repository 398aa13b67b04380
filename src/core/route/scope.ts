import type { Service } from "../model/service.ts";
import type { Packet } from "./packet.ts";
import type { RoutePolicy } from "./route-policy.ts";
import type { SourceLocality } from "./source-locality.ts";

/** Which of a service's two lists a packet chooses from, and whether its source is hidden. */
export interface Scope {
  readonly list: "cluster" | "local";
  readonly masquerade: boolean;
  /** Why this list, in words. */
  readonly listReason: string;
  /** Why masqueraded or not, in words. */
  readonly sourceReason: string;
}

/**
 * For an edge address: what it means is in its own policy. Nodes take from each other only what comes from
 * the networks of their workloads, so everyone else is given an address of this node in them.
 */
export function edgeScope({ from }: Packet): Scope {
  const isWorkload = from === "workload";
  return {
    list: "cluster",
    masquerade: !isWorkload,
    listReason: "edge address: traffic policies do not apply",
    sourceReason: isWorkload
      ? "source kept: the overlay leads the answer back"
      : "masqueraded: the overlay carries what comes from networks of workloads only",
  };
}

/** For a cluster IP. */
export function internalScope(
  service: Service,
  policy: RoutePolicy,
  locality: SourceLocality,
): Scope {
  const local = service.internalTrafficPolicy === "Local";
  return {
    list: local ? "local" : "cluster",
    listReason: local
      ? "internal traffic policy Local: only endpoints on this node"
      : "internal traffic policy Cluster: endpoints of the whole cluster",
    ...internalMasquerade(policy, locality),
  };
}

function internalMasquerade(
  policy: RoutePolicy,
  locality: SourceLocality,
): Pick<Scope, "masquerade" | "sourceReason"> {
  if (policy.masqueradeAll) {
    return { masquerade: true, sourceReason: "masqueraded: masquerade-all is on" };
  }
  switch (locality) {
    case "local":
      return { masquerade: false, sourceReason: "source kept: it is a workload of the cluster" };
    case "not-local":
      return {
        masquerade: true,
        sourceReason: "masqueraded: the source is no workload by the local detection",
      };
    case "unknown":
      return {
        masquerade: false,
        sourceReason: "source kept: there is no local detection for its family",
      };
  }
}

/** For everything that clients outside can call: external and load-balancer IPs, node ports, listeners. */
export function externalScope(service: Service, packet: Packet, locality: SourceLocality): Scope {
  if (service.externalTrafficPolicy === "Cluster") {
    return {
      list: "cluster",
      masquerade: true,
      listReason: "external traffic policy Cluster: endpoints of the whole cluster",
      sourceReason: "masqueraded: the answer has to come back through this node",
    };
  }
  if (locality === "local") {
    return {
      list: "cluster",
      masquerade: false,
      listReason:
        "external traffic policy Local, but the source is a workload of the cluster: endpoints of the whole cluster",
      sourceReason: "source kept: it is a workload of the cluster",
    };
  }
  if (packet.from === "node") {
    return {
      list: "cluster",
      masquerade: true,
      listReason:
        "external traffic policy Local, but the source is this node: endpoints of the whole cluster",
      sourceReason: "masqueraded: the source is this node",
    };
  }
  return {
    list: "local",
    masquerade: false,
    listReason: "external traffic policy Local: only endpoints on this node",
    sourceReason: "source kept: external traffic policy Local",
  };
}
