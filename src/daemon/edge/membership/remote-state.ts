import { planIngress } from "../../../backends/edge/plan-ingress.ts";
import type { Family } from "../../../core/model/address.ts";
import type { Listener } from "../../../core/model/listener.ts";
import type { Node } from "../../../core/model/node.ts";
import type { SecurityGroup } from "../../../core/model/security-group.ts";
import type { NodeEndpoint, NodeService, Op, SetOp } from "../../../core/view/ops.ts";
import type { RemoteView } from "../../../edge/overlay/directory.ts";
import { namesOf } from "../../../edge/overlay/merge-services.ts";
import { peersOfNodes } from "../../../edge/overlay/peers-of-nodes.ts";
import type { EdgeService } from "../../../edge/table/service-table.ts";

/** What a manager tells of other nodes, change by change. */
export class RemoteState {
  readonly #node: string;
  readonly #families: readonly Family[];
  readonly #services = new Map<string, NodeService>();
  readonly #endpoints = new Map<string, NodeEndpoint>();
  readonly #nodes = new Map<string, Node>();
  readonly #listeners = new Map<string, Listener>();
  readonly #securityGroups = new Map<string, SecurityGroup>();
  #leftOut: readonly string[] = [];
  #notServed: readonly string[] = [];

  /**
   * @param node the name of this one
   * @param families what this machine speaks
   */
  constructor(node: string, families: readonly Family[]) {
    this.#node = node;
    this.#families = families;
  }

  apply(ops: Iterable<Op>): void {
    for (const op of ops) {
      if (op.op === "reset") this.#clear();
      else if (op.op === "delete") this.#delete(op.path, op.set);
      else if (op.op === "set") this.#set(op);
    }
  }

  #set(op: SetOp): void {
    switch (op.set) {
      case "services":
        this.#services.set(op.path, op.value);
        return;
      case "endpoints":
        this.#endpoints.set(op.path, op.value);
        return;
      case "nodes":
        this.#nodes.set(op.path, op.value);
        return;
      case "listeners":
        this.#listeners.set(op.path, op.value);
        return;
      case "security-groups":
        this.#securityGroups.set(op.path, op.value);
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
    const { peers, leftOut } = peersOfNodes(this.#nodes.values(), {
      own: this.#node,
      families: this.#families,
    });
    this.#leftOut = leftOut;
    const ingress = planIngress({
      nodeName: this.#node,
      listeners: this.#listeners.values(),
      securityGroups: this.#securityGroups,
      serviceOf: (key) => this.#services.get(key)?.service,
    });
    this.#notServed = linesOf(ingress.limits);
    return { services, peers, ingress: ingress.ports };
  }

  /** Nodes that are not in the last view, each with the reason. */
  get leftOut(): readonly string[] {
    return this.#leftOut;
  }

  /** Listeners that let nobody in by the last view, each with the reason. */
  get notServed(): readonly string[] {
    return this.#notServed;
  }

  /** Keys of the services that this node lets others in to. */
  published(): readonly string[] {
    const own = [...this.#listeners.values()].filter(
      ({ node }) => node === "" || node === this.#node,
    );
    return own.map(({ service }) => service);
  }

  #clear(): void {
    this.#services.clear();
    this.#endpoints.clear();
    this.#nodes.clear();
    this.#listeners.clear();
    this.#securityGroups.clear();
  }

  #delete(path: string, set: string): void {
    if (set === "services") this.#services.delete(path);
    else if (set === "endpoints") this.#endpoints.delete(path);
    else if (set === "nodes") this.#nodes.delete(path);
    else if (set === "listeners") this.#listeners.delete(path);
    else if (set === "security-groups") this.#securityGroups.delete(path);
  }
}

/** In the same order, in whatever one they came. */
function linesOf(limits: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const lines = [...limits].flatMap(([of, reasons]) => reasons.map((why) => `${of}: ${why}`));
  return lines.sort();
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
