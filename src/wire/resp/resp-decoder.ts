import { isUtf8 } from "node:buffer";
import { inlineKind } from "./inline-line.ts";
import { readLength } from "./read-length.ts";

/** What a client's bytes say. */
export type RespEvent =
  /** An array of bulk strings; empty where it has none. */
  | { readonly kind: "words"; readonly words: readonly string[] }
  /** An inline command, as it was typed; never blank. */
  | { readonly kind: "line"; readonly line: string }
  /** Well framed, but not all of it is text: no command, and the connection goes on. */
  | { readonly kind: "not-text"; readonly words: readonly Buffer[] }
  /** It speaks HTTP: a browser was led here. Close without an answer. */
  | { readonly kind: "http" }
  /** Nothing after it can be understood: answer with the reason and close. */
  | { readonly kind: "failed"; readonly reason: string };

export interface RespLimits {
  /** Of one command with all its framing. */
  readonly maxMessageBytes: number;
  /** Words of one command. */
  readonly maxElements: number;
}

export const DEFAULT_RESP_LIMITS: RespLimits = { maxMessageBytes: 65_536, maxElements: 1024 };

const MORE = -1;
const CR = 0x0d;
const LF = 0x0a;
const ARRAY = 0x2a;
const BULK = 0x24;
const LINE_END_BYTES = 2;
/** `*`, a sign and the digits of the largest number that is ever read, with the end of the line. */
const MAX_HEADER_BYTES = 32;
const NO_BYTES = Buffer.alloc(0);

/**
 * The server's side of RESP: cuts what a client sends into commands. Clients send arrays of bulk
 * strings, and nothing nested; people send lines. Not to be fed after `http` or `failed`.
 */
export class RespDecoder {
  readonly #limits: RespLimits;
  #isDone = false;
  /** Bytes that are not understood yet are at the beginning of it. */
  #pending: Buffer = NO_BYTES;
  #pendingLength = 0;
  /** How much of them holds no end of a line, so that it is looked for once only. */
  #searched = 0;
  /** Bytes of the present command that are read. */
  #messageBytes = 0;
  #words: Buffer[] = [];
  /** Words that the present array still lacks. */
  #missing = 0;
  /** Length of the word whose header is read. */
  #wordBytes: number | undefined;

  constructor(limits: RespLimits = DEFAULT_RESP_LIMITS) {
    this.#limits = limits;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  feed(chunk: Buffer): readonly RespEvent[] {
    const events: RespEvent[] = [];
    const bytes = this.#withPending(chunk);
    let at = 0;
    while (!this.#isDone) {
      const end = this.#step(bytes, at, events);
      if (end === MORE) break;
      this.#messageBytes += end - at;
      this.#searched = 0;
      if (this.#missing === 0 && this.#wordBytes === undefined) this.#messageBytes = 0;
      at = end;
    }
    this.#keep(bytes, this.#isDone ? bytes.length : at);
    return events;
  }

  #step(bytes: Buffer, at: number, events: RespEvent[]): number {
    if (this.#wordBytes !== undefined) return this.#readWord(bytes, at, this.#wordBytes, events);
    const lineFeed = bytes.indexOf(LF, at + this.#searched);
    if (lineFeed < 0) return this.#awaitLine(bytes, at, events);
    const end = lineFeed + 1;
    const textEnd = lineFeed > at && bytes[lineFeed - 1] === CR ? lineFeed - 1 : lineFeed;
    if (this.#isHeader(bytes[at]) && lineFeed - at > MAX_HEADER_BYTES) {
      return this.#failHeader(events);
    }
    if (this.#missing > 0) return this.#readWordHeader(bytes, at, textEnd, end, events);
    if (bytes[at] === ARRAY) return this.#readArrayHeader(bytes, at, textEnd, end, events);
    return this.#readInline(bytes, at, textEnd, end, events);
  }

  /** Refuses as soon as it is known, not when the line ends. */
  #awaitLine(bytes: Buffer, at: number, events: RespEvent[]): number {
    const length = bytes.length - at;
    this.#searched = length;
    if (length === 0) return MORE;
    if (this.#isHeader(bytes[at])) {
      return length > MAX_HEADER_BYTES ? this.#failHeader(events) : MORE;
    }
    const kind = inlineKind(bytes, at, bytes.length, false);
    if (kind === "http") return this.#drop(events);
    if (kind === "binary") return this.#failFirstByte(bytes[at], events);
    return length > this.#limits.maxMessageBytes ? this.#failSize(events) : MORE;
  }

  #readInline(
    bytes: Buffer,
    at: number,
    textEnd: number,
    end: number,
    events: RespEvent[],
  ): number {
    const kind = inlineKind(bytes, at, textEnd, true);
    if (kind === "http") return this.#drop(events);
    if (kind === "binary") return this.#failFirstByte(bytes[at], events);
    if (end - at > this.#limits.maxMessageBytes) return this.#failSize(events);
    const text = bytes.subarray(at, textEnd);
    if (!isUtf8(text)) events.push({ kind: "not-text", words: [Buffer.from(text)] });
    else {
      const line = text.toString("utf8").trim();
      // Some clients send the end of a line before they begin; it asks for nothing.
      if (line !== "") events.push({ kind: "line", line });
    }
    return end;
  }

  #readArrayHeader(
    bytes: Buffer,
    at: number,
    textEnd: number,
    end: number,
    events: RespEvent[],
  ): number {
    const count = readLength(bytes, at + 1, textEnd);
    if (count === undefined) return this.#fail(events, "the length of an array is no number");
    const { maxElements } = this.#limits;
    if (count > maxElements) {
      return this.#fail(events, `an array of ${count} words; expected at most ${maxElements}`);
    }
    this.#words = [];
    this.#missing = Math.max(count, 0);
    if (this.#missing === 0) events.push({ kind: "words", words: [] });
    return end;
  }

  #readWordHeader(
    bytes: Buffer,
    at: number,
    textEnd: number,
    end: number,
    events: RespEvent[],
  ): number {
    if (bytes[at] !== BULK) {
      const found = bytes.toString("latin1", at, at + 1);
      return this.#fail(
        events,
        `${JSON.stringify(found)} in an array; expected "$", a bulk string`,
      );
    }
    const length = readLength(bytes, at + 1, textEnd);
    if (length === undefined || length < 0) {
      return this.#fail(events, "the length of a bulk string is no number from 0 on");
    }
    const total = this.#messageBytes + (end - at) + length + LINE_END_BYTES;
    if (total > this.#limits.maxMessageBytes) return this.#failSize(events);
    this.#wordBytes = length;
    return end;
  }

  #readWord(bytes: Buffer, at: number, length: number, events: RespEvent[]): number {
    const textEnd = at + length;
    const end = textEnd + LINE_END_BYTES;
    if (bytes.length < end) return MORE;
    if (bytes[textEnd] !== CR || bytes[textEnd + 1] !== LF) {
      return this.#fail(events, `a bulk string is not over after its ${length} bytes`);
    }
    // A copy: the chunk is the caller's.
    this.#words.push(Buffer.from(bytes.subarray(at, textEnd)));
    this.#wordBytes = undefined;
    this.#missing -= 1;
    if (this.#missing === 0) {
      events.push(eventOf(this.#words));
      this.#words = [];
    }
    return end;
  }

  #isHeader(first: number | undefined): boolean {
    return this.#missing > 0 || first === ARRAY;
  }

  #failHeader(events: RespEvent[]): number {
    return this.#fail(events, `a header has at most ${MAX_HEADER_BYTES} bytes`);
  }

  #failSize(events: RespEvent[]): number {
    return this.#fail(events, `a command has at most ${this.#limits.maxMessageBytes} bytes`);
  }

  #failFirstByte(byte: number | undefined, events: RespEvent[]): number {
    return this.#fail(events, `byte ${byte} begins no command; expected "*" or a line of text`);
  }

  #fail(events: RespEvent[], reason: string): number {
    this.#isDone = true;
    events.push({ kind: "failed", reason });
    return MORE;
  }

  #drop(events: RespEvent[]): number {
    this.#isDone = true;
    events.push({ kind: "http" });
    return MORE;
  }

  /** What waits and the chunk after it. The memory doubles, so that single bytes cost little. */
  #withPending(chunk: Buffer): Buffer {
    if (this.#pendingLength === 0) return chunk;
    const length = this.#pendingLength + chunk.length;
    if (length > this.#pending.length) {
      const larger = Buffer.allocUnsafe(Math.max(length, 2 * this.#pending.length));
      this.#pending.copy(larger, 0, 0, this.#pendingLength);
      this.#pending = larger;
    }
    chunk.copy(this.#pending, this.#pendingLength);
    return this.#pending.subarray(0, length);
  }

  /** Keeps what comes from `at` on, in memory of its own: the chunk is the caller's. */
  #keep(bytes: Buffer, at: number): void {
    const length = bytes.length - at;
    if (length === 0) this.#pending = NO_BYTES;
    else if (this.#pendingLength === 0) this.#pending = Buffer.from(bytes.subarray(at));
    else if (at > 0) this.#pending.copyWithin(0, at, bytes.length);
    this.#pendingLength = length;
  }
}

function eventOf(words: readonly Buffer[]): RespEvent {
  if (!words.every((word) => isUtf8(word))) return { kind: "not-text", words };
  return { kind: "words", words: words.map((word) => word.toString("utf8")) };
}
