/** Printable ASCII and line feeds: tabs, other line breaks and other languages are left to the full parser. */
const UNUSUAL_CHARACTER = /[^\n -~]/;
const DASH = 0x2d;
const SPACE = 0x20;
const HASH = 0x23;
const LINE_FEED = 0x0a;

const MAX_DEPTH = 100;
/** Integers of more digits may not be exact. */
const MAX_DIGITS = 15;

/** What begins a key or a plain scalar here; other characters can mean something else there. */
const PLAIN_START = /[A-Za-z0-9/_]/;
const KEY = /[A-Za-z][\w./-]*(?=:(?: |$))/my;
const WORDS: ReadonlyMap<string, unknown> = new Map<string, unknown>([
  ...["null", "Null", "NULL"].map((word) => [word, null] as const),
  ...["true", "True", "TRUE"].map((word) => [word, true] as const),
  ...["false", "False", "FALSE"].map((word) => [word, false] as const),
]);
const DIGITS = /^\d+$/;
/** Floats, octal and hexadecimal numbers. */
const OTHER_NUMBER = /^(?:\d+\.?\d*(?:[eE][-+]?\d+)?|0o[0-7]+|0x[\da-fA-F]+)$/;

/** Thrown where the text is not as plain as this reader wants it. */
const NOT_PLAIN: unique symbol = Symbol("not plain");

/**
 * Reads a YAML document as programs write it: block mappings and lists, scalars on one line. Undefined
 * where there is anything else in it (flow collections, block scalars, anchors, tags, escapes, comments
 * behind values, mistakes): then the full parser has to read it. What it returns is what that one would
 * return, several times as fast, which matters for the manifests of a whole cluster.
 */
export function readPlainYaml(text: string): { readonly value: unknown } | undefined {
  if (UNUSUAL_CHARACTER.test(text)) return undefined;
  try {
    return { value: new PlainReader(text).read() };
  } catch (error) {
    if (error === NOT_PLAIN) return undefined;
    throw error;
  }
}

class PlainReader {
  readonly #text: string;
  /** The line that is read: where its content starts and ends, and the column of the start. */
  #start = 0;
  #end = 0;
  #indent = 0;
  #nextLine = 0;
  #isDone = false;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
    if (text.startsWith("---\n")) this.#nextLine = 4;
  }

  read(): unknown {
    this.#advance();
    if (this.#isDone) throw NOT_PLAIN;
    const value = this.#node();
    if (!this.#isDone) throw NOT_PLAIN;
    return value;
  }

  /** To the next line with content. */
  #advance(): void {
    const text = this.#text;
    while (this.#nextLine < text.length) {
      const lineStart = this.#nextLine;
      let start = lineStart;
      while (text.charCodeAt(start) === SPACE) start++;
      const feed = text.indexOf("\n", start);
      let end = feed < 0 ? text.length : feed;
      this.#nextLine = end + 1;
      if (start === end || text.charCodeAt(start) === HASH) continue;
      while (text.charCodeAt(end - 1) === SPACE) end--;
      this.#start = start;
      this.#end = end;
      this.#indent = start - lineStart;
      return;
    }
    this.#isDone = true;
  }

  #node(): unknown {
    if (++this.#depth > MAX_DEPTH) throw NOT_PLAIN;
    const value = this.#isDash(this.#start)
      ? this.#list(this.#indent)
      : this.#mapping(this.#indent);
    this.#depth--;
    return value;
  }

  #mapping(indent: number): unknown {
    const mapping: Record<string, unknown> = {};
    while (this.#isAt(indent) && !this.#isDash(this.#start)) {
      const key = this.#keyAt(this.#start);
      if (key === undefined || WORDS.has(key) || Object.hasOwn(mapping, key)) throw NOT_PLAIN;
      const start = this.#skipSpaces(this.#start + key.length + 1);
      mapping[key] =
        start < this.#end ? this.#lineScalar(start, indent) : this.#below(indent, true);
    }
    return mapping;
  }

  #list(indent: number): unknown[] {
    const list: unknown[] = [];
    while (this.#isAt(indent) && this.#isDash(this.#start)) {
      const start = this.#skipSpaces(this.#start + 1);
      if (start >= this.#end) list.push(this.#below(indent, false));
      else if (this.#isDash(start)) throw NOT_PLAIN;
      else if (this.#keyAt(start) === undefined) list.push(this.#lineScalar(start, indent));
      else {
        // A mapping that begins behind the dash has the column of its first key.
        this.#indent += start - this.#start;
        this.#start = start;
        list.push(this.#node());
      }
    }
    return list;
  }

  /** Whether the line belongs to a collection of this column; one that is deeper belongs nowhere. */
  #isAt(indent: number): boolean {
    if (this.#isDone || this.#indent < indent) return false;
    if (this.#indent > indent) throw NOT_PLAIN;
    return true;
  }

  /** A value that stands on the lines below its key or dash; a list may stand in the column of its key. */
  #below(indent: number, isMapping: boolean): unknown {
    this.#advance();
    if (this.#isDone) return null;
    if (this.#indent > indent) return this.#node();
    const isList = isMapping && this.#indent === indent && this.#isDash(this.#start);
    return isList ? this.#list(indent) : null;
  }

  /** A value on the line itself. */
  #lineScalar(start: number, indent: number): unknown {
    const value = this.#scalar(start, this.#end);
    this.#advance();
    // A deeper line would go on with the scalar.
    if (!this.#isDone && this.#indent > indent) throw NOT_PLAIN;
    return value;
  }

  #scalar(start: number, end: number): unknown {
    const text = this.#text.slice(start, end);
    const first = this.#text.charAt(start);
    if (first === "'" || first === '"') return unquoted(text, first);
    if (text === "{}") return {};
    if (text === "[]") return [];
    if (!PLAIN_START.test(first) || text.includes(": ") || text.includes(" #")) throw NOT_PLAIN;
    if (text.endsWith(":")) throw NOT_PLAIN;
    return first >= "0" && first <= "9" ? numberOrText(text) : wordOrText(text);
  }

  #keyAt(start: number): string | undefined {
    KEY.lastIndex = start;
    return KEY.exec(this.#text)?.[0];
  }

  #isDash(at: number): boolean {
    if (this.#text.charCodeAt(at) !== DASH) return false;
    const next = this.#text.charCodeAt(at + 1);
    return next === SPACE || next === LINE_FEED || at + 1 === this.#text.length;
  }

  #skipSpaces(from: number): number {
    let at = from;
    while (at < this.#end && this.#text.charCodeAt(at) === SPACE) at++;
    return at;
  }
}

function unquoted(text: string, quote: string): string {
  const inner = text.slice(1, -1);
  if (text.length < 2 || !text.endsWith(quote)) throw NOT_PLAIN;
  if (inner.includes(quote) || (quote === '"' && inner.includes("\\"))) throw NOT_PLAIN;
  return inner;
}

function numberOrText(text: string): number | string {
  if (DIGITS.test(text)) {
    if (text.length > MAX_DIGITS) throw NOT_PLAIN;
    return Number(text);
  }
  if (OTHER_NUMBER.test(text)) throw NOT_PLAIN;
  return text;
}

function wordOrText(text: string): unknown {
  const word = WORDS.get(text);
  return word === undefined ? text : word;
}
