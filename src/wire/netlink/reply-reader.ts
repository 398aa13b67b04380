import {
  type MessagePlace,
  type NetlinkFailure,
  parseDone,
  parseError,
} from "./netlink-failure.ts";
import {
  aligned,
  FLAGS_AT,
  HEADER_BYTES,
  NLM_F_DUMP_INTR,
  NLMSG_DONE,
  NLMSG_ERROR,
  SEQUENCE_AT,
  TYPE_AT,
} from "./netlink-words.ts";

/** Where the payload of a message stands in the datagram: behind its header, up to its end. */
export type OnMessage = (view: DataView, from: number, to: number, type: number) => void;

/**
 * Follows the answers to the requests `first` to `last` of one datagram: parts of dumps, errors, and
 * the end, which is an acknowledgement of the last request or the end of its dump. Only the last
 * request of a batch needs to ask for one: of the others only what failed is told.
 */
export class ReplyReader {
  readonly #first: number;
  readonly #last: number;
  readonly #onMessage: OnMessage;
  readonly failures: NetlinkFailure[] = [];
  /** Whether what was dumped changed meanwhile, so that parts may be missing. */
  isInterrupted = false;
  isDone = false;

  constructor(first: number, last: number, onMessage: OnMessage) {
    this.#first = first;
    this.#last = last;
    this.#onMessage = onMessage;
  }

  /** Takes a whole datagram. Answers to earlier requests, which nobody waits for, are passed over. */
  feed(view: DataView): void {
    let at = 0;
    while (at + HEADER_BYTES <= view.byteLength) {
      const byteCount = view.getUint32(at, true);
      if (byteCount < HEADER_BYTES || at + byteCount > view.byteLength) return;
      const sequence = view.getUint32(at + SEQUENCE_AT, true);
      if (sequence >= this.#first && sequence <= this.#last) {
        this.#take(view, view.getUint16(at + TYPE_AT, true), {
          flags: view.getUint16(at + FLAGS_AT, true),
          sequence,
          from: at + HEADER_BYTES,
          to: at + byteCount,
        });
      }
      at += aligned(byteCount);
    }
  }

  #take(view: DataView, type: number, place: MessagePlace): void {
    if ((place.flags & NLM_F_DUMP_INTR) !== 0) this.isInterrupted = true;
    if (type !== NLMSG_ERROR && type !== NLMSG_DONE) {
      this.#onMessage(view, place.from, place.to, type);
      return;
    }
    const failure = type === NLMSG_ERROR ? parseError(view, place) : parseDone(view, place);
    if (failure !== undefined) this.failures.push(failure);
    if (place.sequence === this.#last) this.isDone = true;
  }
}
