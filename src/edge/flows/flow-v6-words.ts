import type { IpPacket } from "../../wire/ip/ip-packet.ts";
import type { PacketEnds, Translation } from "../../wire/ip/translate.ts";
import type { FlowEnd } from "./flow.ts";

const WORDS = 12;
/** Where the words of each address are. */
export const FROM_SOURCE = 0;
const FROM_DESTINATION = 3;
export const TO_SOURCE = 6;
const TO_DESTINATION = 9;

/** The words before the last one of the addresses of flows of IPv6. Without such flows it takes no memory. */
export class FlowV6Words {
  readonly #maxEnds: number;
  #words = new Int32Array(0);

  constructor(maxEnds: number) {
    this.#maxEnds = maxEnds;
  }

  put(end: FlowEnd, from: PacketEnds, to: PacketEnds): void {
    if (this.#words.length === 0) this.#words = new Int32Array(this.#maxEnds * WORDS);
    let at = end * WORDS;
    for (const { w0, w1, w2 } of [from.source, from.destination, to.source, to.destination]) {
      this.#words[at] = w0;
      this.#words[at + 1] = w1;
      this.#words[at + 2] = w2;
      at += 3;
    }
  }

  /** One of the three words of an address. */
  word(end: FlowEnd, address: number, index: number): number {
    return this.#words[end * WORDS + address + index] ?? 0;
  }

  matches(end: FlowEnd, packet: IpPacket): boolean {
    const words = this.#words;
    const source = end * WORDS + FROM_SOURCE;
    const destination = end * WORDS + FROM_DESTINATION;
    return (
      words[source + 2] === packet.s2 &&
      words[source + 1] === packet.s1 &&
      words[source] === packet.s0 &&
      words[destination + 2] === packet.d2 &&
      words[destination + 1] === packet.d1 &&
      words[destination] === packet.d0
    );
  }

  load(end: FlowEnd, into: Translation): void {
    into.s0 = this.word(end, TO_SOURCE, 0);
    into.s1 = this.word(end, TO_SOURCE, 1);
    into.s2 = this.word(end, TO_SOURCE, 2);
    into.d0 = this.word(end, TO_DESTINATION, 0);
    into.d1 = this.word(end, TO_DESTINATION, 1);
    into.d2 = this.word(end, TO_DESTINATION, 2);
  }
}
