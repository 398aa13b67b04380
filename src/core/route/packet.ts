import type { Protocol } from "../model/common.ts";

/** Where a packet comes from, seen from the node that it is on. */
export type PacketOrigin = "node" | "workload" | "outside";

export const PACKET_ORIGINS: readonly PacketOrigin[] = ["node", "workload", "outside"];

/** What a request says about where it wants to go. What is missing or empty says nothing. */
export interface RequestHint {
  /** `a.example` or `a.example:8080`, as clients write it. */
  readonly host?: string;
  /** May carry a query, which does not count. */
  readonly path?: string;
  /** Wins over a port in `host`. */
  readonly port?: number;
}

/** The first packet of a connection. Addresses are canonical (`canonicalIp`). */
export interface Packet {
  readonly protocol: Protocol;
  readonly src: string;
  /** Told to people; decides nothing. */
  readonly srcPort?: number;
  readonly dst: string;
  readonly dstPort: number;
  readonly from: PacketOrigin;
  readonly hint?: RequestHint;
}
