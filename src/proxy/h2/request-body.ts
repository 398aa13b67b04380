import type { HeaderField } from "../../wire/http2/hpack/header-field.ts";
import type { ServerLeg } from "./server-leg.ts";

/** The body of a request on its way to a server: what comes before there is one is kept. */
export class RequestBody {
  #leg: ServerLeg | undefined;
  #kept: Buffer[] = [];
  #trailers: readonly HeaderField[] | undefined;
  #isEnded: boolean;
  #hasPassed = false;

  /** @param isEnded whether there is none. */
  constructor(isEnded: boolean) {
    this.#isEnded = isEnded;
  }

  /** Whether none of it came, and none will. */
  get isEmpty(): boolean {
    return this.#isEnded && this.#kept.length === 0 && this.#trailers === undefined;
  }

  /** Whether a server has got some of it: then no other one can get all. */
  get hasPassed(): boolean {
    return this.#hasPassed;
  }

  /** How many bytes are used. */
  add(bytes: Buffer, start: number, end: number, isEnd: boolean): number {
    this.#isEnded ||= isEnd;
    if (this.#leg !== undefined) {
      this.#hasPassed = true;
      return this.#leg.send(bytes, start, end, isEnd);
    }
    if (start < end) this.#kept.push(Buffer.from(bytes.subarray(start, end)));
    return 0;
  }

  addTrailers(fields: readonly HeaderField[]): void {
    this.#isEnded = true;
    if (this.#leg === undefined) this.#trailers = fields;
    else this.#leg.sendTrailers(fields);
  }

  /** There is a server, whose leg was begun with `isEmpty`: how many bytes are used. */
  lead(leg: ServerLeg): number {
    const wasEmpty = this.isEmpty;
    this.#leg = leg;
    if (wasEmpty) return 0;
    let sent = 0;
    const endsWithData = this.#isEnded && this.#trailers === undefined;
    const kept = this.#kept;
    this.#kept = [];
    for (const [index, bytes] of kept.entries()) {
      this.#hasPassed = true;
      sent += leg.send(bytes, 0, bytes.length, endsWithData && index === kept.length - 1);
    }
    if (this.#trailers !== undefined) leg.sendTrailers(this.#trailers);
    return sent;
  }

  /** The server is gone, and had none of it. */
  takeBack(): void {
    this.#leg = undefined;
  }
}
