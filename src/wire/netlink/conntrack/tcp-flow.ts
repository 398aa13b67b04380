import type { Family } from "../../../core/model/address.ts";
import type { FlowTuple } from "./flow.ts";

/** Of enum tcp_conntrack: the handshake is over and nobody began to close. */
export const TCP_ESTABLISHED = 3;

/** Of the flags of a direction (IP_CT_TCP_FLAG_*), those that are of use from outside of the kernel. */
export const TCP_FLAG = {
  /** Packets outside of the window that was seen are let through. */
  beLiberal: 0x08,
  /** Data were sent that the other end did not acknowledge yet. */
  dataUnacknowledged: 0x10,
  /** The highest acknowledgement that this direction sent is known; without it the next one counts. */
  maxAckSet: 0x20,
} as const;

/** A TCP connection that the kernel tracks. */
export interface TcpFlow {
  readonly family: Family;
  readonly original: FlowTuple;
  readonly reply: FlowTuple;
  /** Tells this flow from a later one with the same addresses. */
  readonly id: number;
  /** Of enum tcp_conntrack. */
  readonly state: number;
  /** Whether it stays where the table is full. */
  readonly isAssured: boolean;
  /** Whether rules translated an address or a port of it; IPVS does so without a word here. */
  readonly isTranslated: boolean;
  /** Whether a helper reads along, as for FTP. */
  readonly hasHelper: boolean;
  /** Whether its sequence numbers are altered on the way. */
  readonly adjustsSequences: boolean;
  /** Until it is forgotten where nothing comes; 0 where the kernel does not tell. */
  readonly timeoutS: number;
  /** Of the senders of both directions: bits of TCP_FLAG among others. */
  readonly flags: { readonly original: number; readonly reply: number };
}

/** What is to be different with a flow; all else of it stays. */
export interface TcpFlowChange {
  /** Either direction of it. */
  readonly tuple: FlowTuple;
  /** Bits of TCP_FLAG, for both directions; they win over `clear`. */
  readonly set: number;
  readonly clear: number;
  /** From now on, and only until its next packet. */
  readonly timeoutS?: number;
}
