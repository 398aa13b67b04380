import type { Protocol } from "../../../core/model/common.ts";
import { readIp, V4_BYTES, V6_BYTES } from "../../ip-bytes.ts";
import { AttributeCursor } from "../attribute-cursor.ts";
import {
  CTA_ID,
  CTA_IP_V4_DST,
  CTA_IP_V4_SRC,
  CTA_IP_V6_DST,
  CTA_IP_V6_SRC,
  CTA_MARK,
  CTA_PROTO_DST_PORT,
  CTA_PROTO_NUM,
  CTA_PROTO_SRC_PORT,
  CTA_STATUS,
  CTA_TUPLE_IP,
  CTA_TUPLE_ORIG,
  CTA_TUPLE_PROTO,
  CTA_TUPLE_REPLY,
  CTA_ZONE,
  IPS_DST_NAT,
  NFGENMSG_BYTES,
} from "./conntrack-words.ts";
import type { Flow, FlowTuple } from "./flow.ts";

const PROTOCOLS_BY_NUMBER: ReadonlyMap<number, Protocol> = new Map([
  [6, "TCP"],
  [17, "UDP"],
  [132, "SCTP"],
]);

/** Whether the flows of a protocol to a port are wanted at all; asked before anything else is read. */
export type WantsFlow = (protocol: Protocol, dstPort: number) => boolean;

/** Where the fields of a tuple stand; 0 where they are missing. */
class TuplePlace {
  src = 0;
  dst = 0;
  ipBytes: 4 | 16 = V4_BYTES;
  protocol = 0;
  srcPort = 0;
  dstPort = 0;

  clear(): void {
    this.src = 0;
    this.dst = 0;
    this.protocol = 0;
    this.srcPort = 0;
    this.dstPort = 0;
  }
}

/**
 * Reads flows out of the messages of a dump. What is not wanted costs no allocation. Flows of zones
 * other than the default one are of others, and so are protocols that services do not have.
 */
export class FlowDecoder {
  readonly #wants: WantsFlow;
  readonly #outer = new AttributeCursor();
  readonly #middle = new AttributeCursor();
  readonly #inner = new AttributeCursor();
  readonly #original = new TuplePlace();
  readonly #reply = new TuplePlace();

  constructor(wants: WantsFlow) {
    this.#wants = wants;
  }

  /** The flow of a message, from behind its header on; undefined where it is not wanted. */
  decode(view: DataView, from: number, to: number): Flow | undefined {
    const [original, reply] = [this.#original, this.#reply];
    original.clear();
    reply.clear();
    let [id, status, mark] = [0, 0, 0];
    const cursor = this.#outer;
    cursor.enter(view, from + NFGENMSG_BYTES, to);
    while (cursor.next()) {
      switch (cursor.type) {
        case CTA_TUPLE_ORIG:
          this.#readTuple(view, cursor, original);
          if (!this.#isWanted(original)) return undefined;
          break;
        case CTA_TUPLE_REPLY:
          this.#readTuple(view, cursor, reply);
          break;
        case CTA_STATUS:
          status = cursor.be32();
          break;
        case CTA_MARK:
          mark = cursor.be32();
          break;
        case CTA_ID:
          id = cursor.be32();
          break;
        case CTA_ZONE:
          return undefined;
      }
    }
    const protocol = PROTOCOLS_BY_NUMBER.get(original.protocol);
    if (protocol === undefined || original.dst === 0 || reply.src === 0) return undefined;
    const [sent, answer] = [tupleAt(view, original), tupleAt(view, reply)];
    const isDestinationNat = (status & IPS_DST_NAT) !== 0 || isAnsweredElsewhere(sent, answer);
    return { protocol, original: sent, reply: answer, id, isDestinationNat, mark };
  }

  #isWanted({ protocol: number, dstPort }: TuplePlace): boolean {
    const protocol = PROTOCOLS_BY_NUMBER.get(number);
    return protocol !== undefined && this.#wants(protocol, dstPort);
  }

  #readTuple(view: DataView, { at, length }: AttributeCursor, place: TuplePlace): void {
    const middle = this.#middle;
    middle.enter(view, at, at + length);
    while (middle.next()) {
      this.#inner.enter(view, middle.at, middle.at + middle.length);
      if (middle.type === CTA_TUPLE_IP) readAddresses(this.#inner, place);
      else if (middle.type === CTA_TUPLE_PROTO) readPorts(this.#inner, place);
    }
  }
}

function readAddresses(cursor: AttributeCursor, place: TuplePlace): void {
  while (cursor.next()) {
    if (cursor.length !== V4_BYTES && cursor.length !== V6_BYTES) continue;
    place.ipBytes = cursor.length;
    switch (cursor.type) {
      case CTA_IP_V4_SRC:
      case CTA_IP_V6_SRC:
        place.src = cursor.at;
        break;
      case CTA_IP_V4_DST:
      case CTA_IP_V6_DST:
        place.dst = cursor.at;
        break;
    }
  }
}

function readPorts(cursor: AttributeCursor, place: TuplePlace): void {
  while (cursor.next()) {
    switch (cursor.type) {
      case CTA_PROTO_NUM:
        place.protocol = cursor.u8();
        break;
      case CTA_PROTO_SRC_PORT:
        place.srcPort = cursor.be16();
        break;
      case CTA_PROTO_DST_PORT:
        place.dstPort = cursor.be16();
        break;
    }
  }
}

/** IPVS alters only what an answer looks like: it sets no status. */
function isAnsweredElsewhere(original: FlowTuple, reply: FlowTuple): boolean {
  return original.dst !== reply.src || original.dstPort !== reply.srcPort;
}

function tupleAt(view: DataView, place: TuplePlace): FlowTuple {
  const bytes = new Uint8Array(view.buffer, view.byteOffset, view.byteLength);
  const { src, dst, ipBytes, srcPort, dstPort } = place;
  return {
    src: readIp(bytes, src, ipBytes),
    srcPort,
    dst: readIp(bytes, dst, ipBytes),
    dstPort,
  };
}
