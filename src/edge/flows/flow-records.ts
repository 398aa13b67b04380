import type { AddressWords } from "../../wire/ip/address-words.ts";
import type { IpPacket } from "../../wire/ip/ip-packet.ts";
import { type PacketEnds, Translation } from "../../wire/ip/translate.ts";
import { type FlowEnd, forwardOf } from "./flow.ts";
import * as v6Words from "./flow-v6-words.ts";

/** As long as what a processor fetches at once. */
const WORDS = 16;
const TIMES = WORDS / 2;
const PORTS = 0;
const SOURCE = 1;
const DESTINATION = 2;
const KIND = 3;
const NEXT = 4;
const TO_PORTS = 5;
const TO_SOURCE = 6;
const TO_DESTINATION = 7;
const DELTAS = 8;
/** Of the flow, and so only in the direction to the server. */
const PLACE = 9;
const STATE = 10;
const OLDER = 11;
const NEWER = 12;
/** In times, not in words. */
const LAST_USED = 7;

/** In the kind, above the protocol. */
const IS_V6 = 0x100;
const IS_NOTHING = 0x200;
const MATCHED = 0x1ff;

/**
 * What is known of flows, as numbers in memory that is asked for once and that the system gives when it is written
 * to. Each direction is a record that holds all that a packet of IPv4 needs, in one line of a cache: among many
 * flows every other place is one that no cache has. Links are numbers with 1 added, so that 0 is nowhere.
 */
export class FlowRecords {
  readonly #words: Int32Array;
  readonly #times: Float64Array;
  readonly #v6: v6Words.FlowV6Words;

  constructor(maxFlows: number) {
    const maxEnds = 2 * maxFlows;
    const memory = new ArrayBuffer(maxEnds * WORDS * Int32Array.BYTES_PER_ELEMENT);
    this.#v6 = new v6Words.FlowV6Words(maxEnds);
    this.#words = new Int32Array(memory);
    this.#times = new Float64Array(memory);
  }

  put(end: FlowEnd, protocol: number, from: PacketEnds, to: PacketEnds): void {
    const at = end * WORDS;
    const words = this.#words;
    const { isV6 } = from.source;
    const translation = new Translation(from, to);
    words[at + PORTS] = from.ports;
    words[at + SOURCE] = from.source.w3;
    words[at + DESTINATION] = from.destination.w3;
    words[at + KIND] = protocol | (isV6 ? IS_V6 : 0) | (translation.isNothing ? IS_NOTHING : 0);
    words[at + NEXT] = 0;
    words[at + TO_PORTS] = to.ports;
    words[at + TO_SOURCE] = to.source.w3;
    words[at + TO_DESTINATION] = to.destination.w3;
    words[at + DELTAS] = (translation.portsDelta << 16) | translation.addressDelta;
    if (isV6) this.#v6.put(end, from, to);
  }

  matches(end: FlowEnd, packet: IpPacket): boolean {
    const at = end * WORDS;
    const words = this.#words;
    return (
      words[at + PORTS] === packet.ports &&
      words[at + DESTINATION] === packet.d3 &&
      words[at + SOURCE] === packet.s3 &&
      ((words[at + KIND] ?? 0) & MATCHED) === (packet.protocol | (packet.isV6 ? IS_V6 : 0)) &&
      (!packet.isV6 || this.#v6.matches(end, packet))
    );
  }

  /** What becomes of the packets of a direction. */
  load(end: FlowEnd, into: Translation): void {
    const at = end * WORDS;
    const words = this.#words;
    const kind = words[at + KIND] ?? 0;
    const deltas = words[at + DELTAS] ?? 0;
    into.isNothing = (kind & IS_NOTHING) !== 0;
    into.ports = words[at + TO_PORTS] ?? 0;
    into.s3 = words[at + TO_SOURCE] ?? 0;
    into.d3 = words[at + TO_DESTINATION] ?? 0;
    into.addressDelta = deltas & 0xffff;
    into.portsDelta = deltas >>> 16;
    if ((kind & IS_V6) !== 0) this.#v6.load(end, into);
  }

  protocolOf(end: FlowEnd): number {
    return this.#at(end, KIND) & 0xff;
  }

  fromOf(end: FlowEnd): PacketEnds {
    return this.#ends(end, PORTS, SOURCE, DESTINATION, v6Words.FROM_SOURCE);
  }

  toOf(end: FlowEnd): PacketEnds {
    return this.#ends(end, TO_PORTS, TO_SOURCE, TO_DESTINATION, v6Words.TO_SOURCE);
  }

  /** The next direction with the same hash, with 1 added; 0 where there is none. */
  nextOf(end: FlowEnd): number {
    return this.#at(end, NEXT);
  }

  setNext(end: FlowEnd, next: number): void {
    this.#words[end * WORDS + NEXT] = next;
  }

  placeOf(end: FlowEnd): number {
    return this.#at(forwardOf(end), PLACE);
  }

  setPlace(end: FlowEnd, place: number): void {
    this.#words[forwardOf(end) * WORDS + PLACE] = place;
  }

  stateOf(end: FlowEnd): number {
    return this.#at(forwardOf(end), STATE);
  }

  setState(end: FlowEnd, state: number): void {
    this.#words[forwardOf(end) * WORDS + STATE] = state;
  }

  lastUsedMs(end: FlowEnd): number {
    return this.#times[forwardOf(end) * TIMES + LAST_USED] ?? 0;
  }

  setLastUsed(end: FlowEnd, nowMs: number): void {
    this.#times[forwardOf(end) * TIMES + LAST_USED] = nowMs;
  }

  /** Neighbours in a list, with 1 added; 0 at its ends. */
  olderOf(end: FlowEnd): number {
    return this.#at(end, OLDER);
  }

  newerOf(end: FlowEnd): number {
    return this.#at(end, NEWER);
  }

  setOlder(end: FlowEnd, older: number): void {
    this.#words[end * WORDS + OLDER] = older;
  }

  setNewer(end: FlowEnd, newer: number): void {
    this.#words[end * WORDS + NEWER] = newer;
  }

  #at(end: FlowEnd, word: number): number {
    return this.#words[end * WORDS + word] ?? 0;
  }

  #ends(
    end: FlowEnd,
    ports: number,
    source: number,
    destination: number,
    v6At: number,
  ): PacketEnds {
    return {
      source: this.#address(end, source, v6At),
      destination: this.#address(end, destination, v6At + 3),
      ports: this.#at(end, ports),
    };
  }

  #address(end: FlowEnd, last: number, v6At: number): AddressWords {
    const isV6 = (this.#at(end, KIND) & IS_V6) !== 0;
    const word = (index: number): number => (isV6 ? this.#v6.word(end, v6At, index) : 0);
    return { isV6, w0: word(0), w1: word(1), w2: word(2), w3: this.#at(end, last) };
  }
}
