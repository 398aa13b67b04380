import type { Protocol } from "../../../core/model/common.ts";

/** One direction of a tracked flow. */
export interface FlowTuple {
  readonly src: string;
  readonly srcPort: number;
  readonly dst: string;
  readonly dstPort: number;
}

/** What the kernel tracks: what was sent, and what an answer looks like. */
export interface Flow {
  readonly protocol: Protocol;
  readonly original: FlowTuple;
  readonly reply: FlowTuple;
  /** Tells this flow from a later one with the same addresses. */
  readonly id: number;
  /** Whether its destination was translated, by rules or by IPVS. */
  readonly isDestinationNat: boolean;
  readonly mark: number;
}

/** The numbers of the protocols whose flows services have. */
export const PROTOCOL_NUMBERS: Readonly<Record<Protocol, number>> = { TCP: 6, UDP: 17, SCTP: 132 };
