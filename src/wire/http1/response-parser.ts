import { CR, DIGIT, LF, readDigits, SPACE, skip, TEXT } from "./characters.ts";
import { FieldTable } from "./field-table.ts";
import { HeadFacts } from "./head-facts.ts";
import { type HeadOutcome, MORE_BYTES } from "./head-outcome.ts";
import { HeadScanner, MORE } from "./head-scanner.ts";
import { type HttpProblem, PROBLEMS } from "./http-problem.ts";
import { DEFAULT_HTTP1_LIMITS, type Http1Limits } from "./http1-limits.ts";
import { parseFields } from "./parse-fields.ts";
import { readVersion } from "./request-line.ts";
import { type RequestContext, ResponseHead, responseBody } from "./response-head.ts";

const EMPTY_LINE_BYTES = 2;
const STATUS_DIGITS = 3;
const LOWEST_STATUS = 100;
const SWITCHING_PROTOCOLS = 101;

/** Reads the heads of the responses of one connection; otherwise like `RequestParser`. */
export class ResponseParser {
  readonly #scanner: HeadScanner;
  readonly #head: ResponseHead;
  readonly #found: HeadOutcome<ResponseHead>;

  constructor(limits: Http1Limits = DEFAULT_HTTP1_LIMITS) {
    this.#scanner = new HeadScanner(limits.maxHeadBytes);
    this.#head = new ResponseHead(new FieldTable(limits.maxFields), new HeadFacts());
    this.#found = { kind: "head", head: this.#head };
  }

  /** Forgets a head that was begun. */
  reset(): void {
    this.#scanner.reset();
  }

  /** Looks at `bytes` from `start`, where the response to `request` begins, to `end`. */
  parse(
    bytes: Buffer,
    start: number,
    end: number,
    request: RequestContext,
  ): HeadOutcome<ResponseHead> {
    const headEnd = this.#scanner.scan(bytes, start, end);
    if (typeof headEnd !== "number") return headEnd;
    if (headEnd === MORE) return MORE_BYTES;
    this.#scanner.reset();
    return this.#read(bytes, start, headEnd, request) ?? this.#found;
  }

  #read(
    bytes: Buffer,
    start: number,
    end: number,
    request: RequestContext,
  ): HttpProblem | undefined {
    const head = this.#head;
    const { fields, facts } = head;
    const fieldsStart = this.#readStatusLine(bytes, start);
    if (typeof fieldsStart !== "number") return fieldsStart;
    fields.begin(bytes, end - EMPTY_LINE_BYTES);
    head.start = start;
    head.end = end;
    const problem = parseFields(fields, fieldsStart) ?? facts.read(fields) ?? this.#check(request);
    if (problem === undefined) head.body = responseBody(head.status, facts, request);
    return problem;
  }

  /** Returns where the fields begin. The reason may be missing, with the space before it. */
  #readStatusLine(bytes: Buffer, start: number): number | HttpProblem {
    const versionEnd = readVersion(this.#head, bytes, start);
    if (typeof versionEnd !== "number") return versionEnd;
    const digitsStart = versionEnd + 1;
    const digitsEnd = skip(bytes, digitsStart, DIGIT);
    if (bytes[versionEnd] !== SPACE || digitsEnd - digitsStart !== STATUS_DIGITS) {
      return PROBLEMS.statusLine;
    }
    this.#head.status = readDigits(bytes, digitsStart, digitsEnd);
    const lineEnd = bytes[digitsEnd] === SPACE ? skip(bytes, digitsEnd, TEXT) : digitsEnd;
    const isComplete = bytes[lineEnd] === CR && bytes[lineEnd + 1] === LF;
    return isComplete && this.#head.status >= LOWEST_STATUS ? lineEnd + 2 : PROBLEMS.statusLine;
  }

  #check({ asksUpgrade }: RequestContext): HttpProblem | undefined {
    const { status, facts, minorVersion } = this.#head;
    if (facts.isChunked && minorVersion === 0) return PROBLEMS.oldTransferEncoding;
    return status === SWITCHING_PROTOCOLS && !asksUpgrade ? PROBLEMS.upgradeNotAsked : undefined;
  }
}
