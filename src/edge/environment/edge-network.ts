import type { Cidr } from "../../core/model/address.ts";
import type { AddressPair } from "../addresses/address-plan.ts";
import type { NodeSubnets } from "../addresses/subnet.ts";
import type { PortMapping } from "./port-mappings.ts";
import type { FoundNamespace } from "./workload.ts";

/** The network of a node: its bridge, and where service addresses lead. */
export interface NodePlan {
  readonly bridge: string;
  /** The device of the tunnel. */
  readonly tun: string;
  readonly mtu: number;
  readonly subnets: NodeSubnets;
  /** Of the bridge: what workloads have as their router. */
  readonly addresses: AddressPair;
  /** The networks of service addresses. */
  readonly serviceRanges: readonly Cidr[];
  /** The networks of other nodes' workloads: they are reached through the tunnel, and never otherwise. */
  readonly peerNetworks: readonly Cidr[];
  readonly ingress?: readonly IngressPort[];
  readonly egress?: Egress;
}

/** A port of this machine that leads to a service, by one of its addresses, for those outside of the overlay. */
export interface IngressPort {
  readonly protocol: "tcp" | "udp";
  /** Of this machine; a wildcard stands for all of them but loopback. */
  readonly address: string;
  readonly port: number;
  /** The address of the service. */
  readonly to: string;
  readonly toPort: number;
  /** Who may call: the first network that holds the source decides. Missing: everyone. */
  readonly guard?:
    | {
        readonly entries: readonly {
          readonly network: string;
          readonly access: "allow" | "deny";
        }[];
        readonly otherwise: "allow" | "deny";
      }
    | undefined;
}

/** What workloads may reach beyond the overlay: what is denied not, and where something is allowed nothing else. */
export interface Egress {
  readonly allow: readonly Cidr[];
  readonly deny: readonly Cidr[];
}

/** What connects one workload. */
export interface AttachPlan {
  readonly hostLink: string;
  readonly namespace: FoundNamespace;
  readonly addresses: AddressPair;
}

/** A port of the node that leads to a workload. */
export interface PublishedPort extends PortMapping {
  readonly addresses: AddressPair;
}

/** A process that listens where a port would be published. */
export interface PortHolder {
  readonly port: PortMapping;
  /** `sshd (pid 7)`. */
  readonly holder: string;
}

/** The kernel's side of a node. What is there already is left as it is; what is absent is gone. */
export interface EdgeNetwork {
  /** Makes what is missing, and puts right what others changed. */
  ensureNode(plan: NodePlan): Promise<void>;
  /** Which address of the machine lies in one of the networks, other than on the bridge. */
  findConflict(plan: Pick<NodePlan, "bridge" | "subnets">): Promise<string | undefined>;
  /** @returns the name of the link in the namespace */
  attach(plan: NodePlan, workload: AttachPlan): Promise<string>;
  detach(hostLink: string): Promise<void>;
  /** The links of workloads that the bridge has as ports. */
  attached(bridge: string): Promise<ReadonlySet<string>>;
  /** Whether the namespace is still the one that was found. */
  isThere(namespace: FoundNamespace): boolean;
  removeNamespace(namespace: FoundNamespace): void;
  publish(plan: NodePlan, ports: readonly PublishedPort[]): Promise<void>;
  /** Which of these ports a process of the machine has, and which process. */
  findHolder(ports: readonly PortMapping[]): PortHolder | undefined;
  /** Links, routes and rules. */
  removeNode(plan: Pick<NodePlan, "bridge" | "serviceRanges">): Promise<void>;
  /** Calls when links or addresses may have changed. */
  watch(onChange: () => void): { close(): void };
  close(): void;
}
