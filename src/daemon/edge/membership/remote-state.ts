import { canonicalIp, parseHostPort } from "../../../core/model/address.ts";
import type { Node } from "../../../core/model/node.ts";
import type { NodeEndpoint, NodeService, Op } from "../../../core/view/ops.ts";
import type { RemoteView } from "../../../edge/overlay/directory.ts";
import { namesOf } from "../../../edge/overlay/merge-services.ts";
import type { EdgeService } from "../../../edge/table/service-table.ts";
import type { PeerSpec } from "../../../edge/tunnel/peer.ts";
import { ipAddress } from "../../../platform/socket-address.ts";

/** What a manager tells of other nodes, change by change. */
export class RemoteState {
  readonly #node: string;
  readonly #services = new Map<string, NodeService>();
  readonly #endpoints = new Map<string, NodeEndpoint>();
  readonly #nodes = new Map<string, Node>();

  /** @param node the name of this one */
  constructor(node: string) {
    this.#node = node;
  }

  apply(ops: Iterable<Op>): void {
    for (const op of ops) {
      if (op.op === "reset") this.#clear();
      else if (op.op === "delete") this.#delete(op.path, op.set);
      else if (op.op === "set" && op.set === "services") this.#services.set(op.path, op.value);
      else if (op.op === "set" && op.set === "endpoints") this.#endpoints.set(op.path, op.value);
      else if (op.op === "set" && op.set === "nodes") this.#nodes.set(op.path, op.value);
    }
  }

  view(): RemoteView {
    const instances = new Map<string, NodeEndpoint[]>();
    for (const endpoint of this.#endpoints.values()) {
      const there = instances.get(endpoint.service);
      if (there === undefined) instances.set(endpoint.service, [endpoint]);
      else there.push(endpoint);
    }
    const services = [...this.#services.values()]
      .filter(({ service }) => service.edgeIPs.length > 0)
      .map((service) => serviceOf(service, instances.get(service.key) ?? []));
    return { services, peers: this.#peers() };
  }

  #clear(): void {
    this.#services.clear();
    this.#endpoints.clear();
    this.#nodes.clear();
  }

  #delete(path: string, set: string): void {
    if (set === "services") this.#services.delete(path);
    else if (set === "endpoints") this.#endpoints.delete(path);
    else if (set === "nodes") this.#nodes.delete(path);
  }

  /** Of two nodes that nothing could tell apart, the first by name. */
  #peers(): readonly PeerSpec[] {
    const seen = new Set<string>();
    const peers: PeerSpec[] = [];
    for (const [name, node] of [...this.#nodes].sort(([a], [b]) => (a < b ? -1 : 1))) {
      const marks = [node.tunnel?.publicKey ?? "", ...node.subnets];
      if (name === this.#node || marks.includes("") || marks.some((mark) => seen.has(mark)))
        continue;
      for (const mark of marks) seen.add(mark);
      peers.push(peerOf(node));
    }
    return peers;
  }
}

function peerOf({ name, subnets, tunnel }: Node): PeerSpec {
  const place = parseHostPort(tunnel?.address ?? "");
  const ip = place && canonicalIp(place.host);
  return {
    node: name,
    ...(place !== undefined && ip !== undefined && { endpoint: ipAddress(ip, place.port) }),
    subnets,
    publicKey: tunnel?.publicKey,
    modes: ["secure"],
  };
}

function serviceOf({ key, service }: NodeService, endpoints: readonly NodeEndpoint[]): EdgeService {
  const ports = service.ports.flatMap(({ protocol, port, targetPort }) =>
    protocol === "SCTP"
      ? []
      : [{ protocol: protocol === "TCP" ? "tcp" : "udp", port: targetPort || port } as const],
  );
  return {
    key,
    names: namesOf(key),
    addresses: service.edgeIPs,
    instances: endpoints.map(({ endpoint: { instance, node, addresses, weight } }) => ({
      number: instance,
      node,
      addresses,
      weight,
      ports,
    })),
  };
}
