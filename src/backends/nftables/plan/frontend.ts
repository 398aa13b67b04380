import type { Protocol } from "../../../core/model/common.ts";

/** Address and port of an endpoint, as the kernel's maps hold them: `10.244.1.12 . 8080`. */
export type Target = string;

/** How a slot is chosen. */
export type SlotMethod = "random" | "round-robin" | "source-hash";

/** What becomes of who finds nobody: told at once, or not at all. */
export type Nobody = "refuse" | "drop";

/** The endpoints that some callers choose from. */
export interface TargetList {
  /** With the number of slots that each has; empty where nobody takes connections. */
  readonly slots: ReadonlyMap<Target, number>;
  readonly whenEmpty: Nobody;
}

/** Who may call. */
export type AccessList =
  /** Those inside one of these networks, none of which lies inside another. */
  | { readonly kind: "networks"; readonly networks: readonly string[] }
  /** By the first rule whose network the caller is in, then by `otherwise`. */
  | {
      readonly kind: "rules";
      readonly rules: readonly { readonly network: string; readonly allow: boolean }[];
      readonly otherwise: boolean;
    };

/** Which list a caller chooses from and whether its source is hidden, as `core/route` has it. */
export type FrontendScope =
  | { readonly kind: "internal"; readonly list: TargetList }
  | { readonly kind: "external"; readonly list: TargetList }
  /** External traffic policy Local: who calls from outside has a list of its own. */
  | { readonly kind: "external-local"; readonly list: TargetList; readonly local: TargetList };

/** An address and port on which something is served, and how. */
export interface Frontend {
  /** `10.96.0.10 . tcp . 80`: what the maps are keyed by. */
  readonly key: string;
  readonly address: string;
  readonly protocol: Protocol;
  readonly port: number;
  /** Of those that want one address and port, the lowest has it. */
  readonly rank: number;
  /** For people: `default/web:http`. */
  readonly label: string;
  readonly scope: FrontendScope;
  readonly method: SlotMethod;
  /** 0: none. */
  readonly affinitySeconds: number;
  /** Undefined: everyone may call. */
  readonly access: AccessList | undefined;
}

/** In the order in which `core/route` looks for the destination of a packet. */
export const RANKS = {
  "cluster-ip": 0,
  "external-ip": 1,
  "load-balancer-ip": 2,
  "node-port": 3,
  listener: 4,
  "listener-on-any": 5,
} as const;

/** The key of an address and port. */
export function frontendKey(address: string, protocol: Protocol, port: number): string {
  return `${address} . ${PROTOCOL_NAMES[protocol]} . ${port}`;
}

const PROTOCOL_NAMES: Readonly<Record<Protocol, string>> = { TCP: "tcp", UDP: "udp", SCTP: "sctp" };
