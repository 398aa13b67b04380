import { equalsIgnoringCase } from "./characters.ts";
import { FieldTable } from "./field-table.ts";
import { HeadFacts, NO_FIELD } from "./head-facts.ts";
import { type HeadOutcome, MORE_BYTES } from "./head-outcome.ts";
import { HeadScanner, MORE } from "./head-scanner.ts";
import { type HttpProblem, PROBLEMS } from "./http-problem.ts";
import { DEFAULT_HTTP1_LIMITS, type Http1Limits } from "./http1-limits.ts";
import { parseFields } from "./parse-fields.ts";
import { RequestHead } from "./request-head.ts";
import { createRequestLine, isAuthority, parseRequestLine } from "./request-line.ts";

const EMPTY_LINE_BYTES = 2;
/** One empty line before a request is ignored: old clients sent one too many after a body. */
const MAX_LEADING_BYTES = EMPTY_LINE_BYTES;

/**
 * Reads the heads of the requests of one connection, one after the other; bodies in between are the
 * caller's (`BodyPassage`). After a problem the connection can only be closed: where the next request
 * would begin is not known.
 */
export class RequestParser {
  readonly #limits: Http1Limits;
  readonly #scanner: HeadScanner;
  readonly #head: RequestHead;
  readonly #found: HeadOutcome<RequestHead>;
  #leadingBytes = 0;

  constructor(limits: Http1Limits = DEFAULT_HTTP1_LIMITS) {
    this.#limits = limits;
    this.#scanner = new HeadScanner(limits.maxHeadBytes);
    const fields = new FieldTable(limits.maxFields);
    this.#head = new RequestHead(createRequestLine(), fields, new HeadFacts());
    this.#found = { kind: "head", head: this.#head };
  }

  /** Looks at `bytes` from `start`, where the request begins, to `end`. */
  parse(bytes: Buffer, start: number, end: number): HeadOutcome<RequestHead> {
    const headStart = start + this.#leadingBytes;
    const headEnd = this.#scanner.scan(bytes, headStart, end);
    if (typeof headEnd !== "number") return headEnd;
    if (headEnd === MORE) return MORE_BYTES;
    this.#scanner.reset();
    if (headEnd - headStart === EMPTY_LINE_BYTES && this.#leadingBytes < MAX_LEADING_BYTES) {
      this.#leadingBytes += EMPTY_LINE_BYTES;
      return this.parse(bytes, start, end);
    }
    this.#leadingBytes = 0;
    return this.#read(bytes, headStart, headEnd) ?? this.#found;
  }

  #read(bytes: Buffer, start: number, end: number): HttpProblem | undefined {
    const { line, fields, facts } = this.#head;
    const fieldsStart = parseRequestLine(line, bytes, start, this.#limits.maxTargetBytes);
    if (typeof fieldsStart !== "number") return fieldsStart;
    fields.begin(bytes, end - EMPTY_LINE_BYTES);
    this.#head.end = end;
    return parseFields(fields, fieldsStart) ?? facts.read(fields) ?? this.#check();
  }

  /** What only the line and the fields together show. */
  #check(): HttpProblem | undefined {
    const { line, facts } = this.#head;
    if (facts.isChunked && line.minorVersion === 0) return PROBLEMS.oldTransferEncoding;
    return this.#checkHost() ?? this.#checkExpectation();
  }

  #checkHost(): HttpProblem | undefined {
    const { line, fields, facts } = this.#head;
    if (facts.host === NO_FIELD) return line.minorVersion === 0 ? undefined : PROBLEMS.noHost;
    const [start, end] = [fields.valueStart(facts.host), fields.valueEnd(facts.host)];
    return isAuthority(fields.bytes, start, end) ? undefined : PROBLEMS.host;
  }

  #checkExpectation(): HttpProblem | undefined {
    const { fields, facts } = this.#head;
    if (facts.expect === NO_FIELD) return undefined;
    const [start, end] = [fields.valueStart(facts.expect), fields.valueEnd(facts.expect)];
    const isKnown = equalsIgnoringCase(fields.bytes, start, end, "100-continue");
    return isKnown ? undefined : PROBLEMS.expectation;
  }
}
