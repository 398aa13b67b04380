import { type BodyFraming, CHUNKED, NO_BODY } from "./body-framing.ts";
import { DIGIT, equalsIgnoringCase, readDigits, skip } from "./characters.ts";
import type { FieldTable } from "./field-table.ts";
import { type HttpProblem, PROBLEMS } from "./http-problem.ts";
import { listItems } from "./list-items.ts";

export const NO_FIELD = -1;
const NO_LENGTH = -1;
/** Has so many digits at most that it is a safe integer. */
const MAX_LENGTH_DIGITS = 15;

/** What the fields of one head say about its framing and its connection. Used again for each head. */
export class HeadFacts {
  /** -1 where it is not said. */
  contentLength: number = NO_LENGTH;
  isChunked = false;
  /** What `Connection` lists. */
  saysClose = false;
  saysKeepAlive = false;
  saysUpgrade = false;
  /** Whether it lists fields that are for this hop only. */
  nominates = false;
  /** Indexes of fields; -1 where they are not there. */
  host: number = NO_FIELD;
  upgrade: number = NO_FIELD;
  expect: number = NO_FIELD;

  read(table: FieldTable): HttpProblem | undefined {
    this.#clear();
    for (let index = 0; index < table.count; index++) {
      const problem = this.#readField(table, index);
      if (problem !== undefined) return problem;
    }
    const isLengthSaid = this.contentLength !== NO_LENGTH;
    return this.isChunked && isLengthSaid ? PROBLEMS.bothLengths : undefined;
  }

  /** The body that the fields announce; undefined where they say nothing. */
  get announcedBody(): BodyFraming | undefined {
    if (this.isChunked) return CHUNKED;
    if (this.contentLength === NO_LENGTH) return undefined;
    return this.contentLength === 0 ? NO_BODY : { kind: "length", bytes: this.contentLength };
  }

  /** Whether the connection may carry another message after this one. */
  isPersistent(minorVersion: number): boolean {
    return !this.saysClose && (minorVersion > 0 || this.saysKeepAlive);
  }

  #clear(): void {
    this.contentLength = NO_LENGTH;
    this.isChunked = false;
    this.saysClose = false;
    this.saysKeepAlive = false;
    this.saysUpgrade = false;
    this.nominates = false;
    this.host = NO_FIELD;
    this.upgrade = NO_FIELD;
    this.expect = NO_FIELD;
  }

  #readField(table: FieldTable, index: number): HttpProblem | undefined {
    switch (table.field(index)) {
      case "host":
        if (this.host !== NO_FIELD) return PROBLEMS.host;
        this.host = index;
        return undefined;
      case "content-length":
        return this.#readContentLength(table, index);
      case "transfer-encoding":
        return this.#readTransferEncoding(table, index);
      case "connection":
        this.#readConnection(table, index);
        return undefined;
      case "upgrade":
        this.upgrade = index;
        return undefined;
      case "expect":
        this.expect = index;
        return undefined;
      default:
        return undefined;
    }
  }

  /** Only one, even if a second one said the same: others might add them, or take the last. */
  #readContentLength(table: FieldTable, index: number): HttpProblem | undefined {
    const start = table.valueStart(index);
    const end = table.valueEnd(index);
    const digits = end - start;
    const isNumber = digits > 0 && skip(table.bytes, start, DIGIT) === end;
    if (!isNumber || digits > MAX_LENGTH_DIGITS || this.contentLength !== NO_LENGTH) {
      return PROBLEMS.contentLength;
    }
    this.contentLength = readDigits(table.bytes, start, end);
    return undefined;
  }

  /** Other codings, and `chunked` twice, are where two programs see two different ends. */
  #readTransferEncoding(table: FieldTable, index: number): HttpProblem | undefined {
    const [start, end] = [table.valueStart(index), table.valueEnd(index)];
    if (this.isChunked || !equalsIgnoringCase(table.bytes, start, end, "chunked")) {
      return PROBLEMS.transferEncoding;
    }
    this.isChunked = true;
    return undefined;
  }

  #readConnection(table: FieldTable, index: number): void {
    const { bytes } = table;
    const [start, end] = [table.valueStart(index), table.valueEnd(index)];
    if (this.#readOption(bytes, start, end)) return;
    for (const item of listItems(bytes, start, end)) {
      if (!this.#readOption(bytes, item.start, item.end)) this.nominates = true;
    }
  }

  /** False where it is the name of a field. */
  #readOption(bytes: Buffer, start: number, end: number): boolean {
    if (equalsIgnoringCase(bytes, start, end, "keep-alive")) this.saysKeepAlive = true;
    else if (equalsIgnoringCase(bytes, start, end, "close")) this.saysClose = true;
    else if (equalsIgnoringCase(bytes, start, end, "upgrade")) this.saysUpgrade = true;
    else return false;
    return true;
  }
}
