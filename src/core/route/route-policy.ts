/**
 * The addresses of a node on which node ports answer. `primary`: the first of each family; `all`:
 * every address of the node, without loopback; `localhost`: loopback only; a list: the addresses of
 * the node inside these networks (loopback where a network lies within it: `127.0.0.0/8`).
 */
export type NodePortAddresses = "primary" | "all" | "localhost" | readonly string[];

/**
 * How the data plane tells a workload of this node from everyone else. With `none`, or with networks
 * that hold none of the packet's family, it can not tell.
 */
export type LocalDetection =
  | { readonly mode: "none" }
  | { readonly mode: "cluster-cidr"; readonly cidrs: readonly string[] }
  /** The subnets of the Node object. */
  | { readonly mode: "node-cidr" }
  /** By the interface that a packet comes in by: what `from` of the packet says. */
  | { readonly mode: "interface" };

/** What an operator sets for all services. */
export interface RoutePolicy {
  readonly nodePortAddresses: NodePortAddresses;
  /** Masquerade everything that goes to a cluster IP. */
  readonly masqueradeAll: boolean;
  readonly localDetection: LocalDetection;
}

export const DEFAULT_ROUTE_POLICY: RoutePolicy = Object.freeze({
  nodePortAddresses: "primary",
  masqueradeAll: false,
  localDetection: Object.freeze({ mode: "none" }),
});
