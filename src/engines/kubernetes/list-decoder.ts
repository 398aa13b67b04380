import { CoreError } from "../../core/errors.ts";

const QUOTE = 0x22;
const COMMA = 0x2c;
const OPEN_LIST = 0x5b;
const BACKSLASH = 0x5c;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;
const SPACE = 0x20;
/** The bit that makes the bracket of an object of that of a list. */
const LIST_TO_OBJECT = 0x20;

/** How deep it is inside the list `items` of an object. */
const ITEMS_DEPTH = 2;
const OPENS_ITEMS = /"items"\s*:\s*\[$/;

/**
 * Reads a list of Kubernetes while it arrives. Each entry is parsed as soon as it is whole and handed
 * over; of the list itself only what stands around the entries is kept. So a list of any length takes
 * the memory of one entry.
 */
export class ListDecoder {
  readonly #onItem: (item: unknown) => void;
  readonly #maxItemBytes: number;
  /** What stands around the entries. */
  #outside = "";
  /** The entry that is not whole yet. */
  #parts: Uint8Array[] = [];
  #partBytes = 0;
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #isInItems = false;

  constructor(onItem: (item: unknown) => void, maxItemBytes: number) {
    this.#onItem = onItem;
    this.#maxItemBytes = maxItemBytes;
  }

  /** @throws CoreError ERR_API_PROTOCOL where it is not a list */
  feed(chunk: Uint8Array): void {
    let at = 0;
    while (at < chunk.length) {
      at = this.#isInItems ? this.#inItems(chunk, at) : this.#around(chunk, at);
    }
  }

  /** What stands around the entries, once all has come. @throws CoreError ERR_API_PROTOCOL */
  finish(): unknown {
    if (this.#depth !== 0 || this.#outside === "") throw broken("it ended too early");
    return parse(this.#outside);
  }

  /** Reads to the next bracket that may open the entries. */
  #around(chunk: Uint8Array, from: number): number {
    const end = this.#scan(chunk, from, OPEN_LIST, ITEMS_DEPTH);
    this.#outside += textOf(chunk, from, end);
    if (this.#outside.length > this.#maxItemBytes) {
      throw broken(`more than ${this.#maxItemBytes} bytes stand around its entries`);
    }
    this.#isInItems = this.#depth === ITEMS_DEPTH && OPENS_ITEMS.test(this.#outside);
    return end;
  }

  /** Reads to the end of an entry, or of the entries. */
  #inItems(chunk: Uint8Array, from: number): number {
    let start = from;
    if (this.#partBytes === 0) {
      while (start < chunk.length && isSeparator(chunk[start] ?? 0)) start += 1;
      if (start === chunk.length) return start;
      if (chunk[start] === CLOSE_LIST) {
        this.#isInItems = false;
        return this.#closeItems(start);
      }
      if (chunk[start] !== OPEN_OBJECT) throw broken("an entry is not an object");
    }
    const end = this.#scan(chunk, start, CLOSE_OBJECT, ITEMS_DEPTH);
    this.#add(chunk.subarray(start, end));
    if (this.#depth === ITEMS_DEPTH) this.#handOver();
    return end;
  }

  #closeItems(at: number): number {
    this.#outside += "]";
    this.#depth -= 1;
    return at + 1;
  }

  /** Reads on to after the byte `stop` that leads to `depth`, or to the end. */
  #scan(chunk: Uint8Array, from: number, stop: number, depth: number): number {
    let at = from;
    while (at < chunk.length) {
      if (this.#isInString) {
        at = this.#skipString(chunk, at);
        continue;
      }
      const byte = chunk[at] ?? 0;
      at += 1;
      const bracket = byte | LIST_TO_OBJECT;
      if (byte === QUOTE) this.#isInString = true;
      else if (bracket === OPEN_OBJECT) this.#depth += 1;
      else if (bracket === CLOSE_OBJECT) this.#depth -= 1;
      else continue;
      if (byte === stop && this.#depth === depth) return at;
    }
    return at;
  }

  #skipString(chunk: Uint8Array, from: number): number {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (this.#isEscaped) this.#isEscaped = false;
      else if (byte === BACKSLASH) this.#isEscaped = true;
      else if (byte === QUOTE) {
        this.#isInString = false;
        return at + 1;
      }
    }
    return chunk.length;
  }

  #add(part: Uint8Array): void {
    this.#partBytes += part.length;
    if (this.#partBytes > this.#maxItemBytes) {
      throw broken(`an entry has more than ${this.#maxItemBytes} bytes`);
    }
    this.#parts.push(part);
  }

  #handOver(): void {
    const [first] = this.#parts;
    const isWhole = this.#parts.length === 1 && first !== undefined;
    const bytes = isWhole ? first : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#partBytes = 0;
    this.#onItem(parse(textOf(bytes, 0, bytes.length)));
  }
}

function isSeparator(byte: number): boolean {
  return byte <= SPACE || byte === COMMA;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw broken("it is not JSON", cause);
  }
}

function broken(why: string, cause?: unknown): CoreError {
  return new CoreError("ERR_API_PROTOCOL", `the Kubernetes API sent no whole list: ${why}`, {
    cause,
  });
}

function textOf(bytes: Uint8Array, start: number, end: number): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset + start, end - start).toString("utf8");
}
