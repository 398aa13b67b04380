/**
 * What is wrong with a message. It is an answer and not an exception: on the data path it is usual,
 * and whoever sent it is to be told.
 */
export interface HttpProblem {
  readonly kind: "malformed";
  /** What to answer to a request; a bad response is always a 502 to the client. */
  readonly status: number;
  /** For people: the field, what is there and what would be right. */
  readonly reason: string;
}

/** Made once: malformed input must not cost more than good input. */
export const PROBLEMS = {
  bareLineFeed: {
    kind: "malformed",
    status: 400,
    reason: "a line ends with LF alone; expected CR LF",
  },
  headTooLarge: { kind: "malformed", status: 431, reason: "the head is larger than the limit" },
  targetTooLong: {
    kind: "malformed",
    status: 414,
    reason: "the request target is longer than the limit",
  },
  tooManyFields: {
    kind: "malformed",
    status: 431,
    reason: "there are more header fields than the limit",
  },
  requestLine: {
    kind: "malformed",
    status: 400,
    reason: "the request line is not METHOD SP TARGET SP HTTP-VERSION CR LF",
  },
  target: {
    kind: "malformed",
    status: 400,
    reason: "the request target is none that the method allows",
  },
  noVersion: { kind: "malformed", status: 400, reason: "there is no HTTP version in its place" },
  version: { kind: "malformed", status: 505, reason: "the version is not HTTP/1.0 or HTTP/1.1" },
  statusLine: {
    kind: "malformed",
    status: 502,
    reason: "the status line is not HTTP-VERSION SP three digits SP REASON CR LF",
  },
  fieldName: {
    kind: "malformed",
    status: 400,
    reason: "a field line does not begin with a name and a colon right after it",
  },
  folded: {
    kind: "malformed",
    status: 400,
    reason: "a field line begins with white space: folding is obsolete",
  },
  fieldValue: { kind: "malformed", status: 400, reason: "a field value has a control character" },
  noHost: { kind: "malformed", status: 400, reason: "an HTTP/1.1 request without Host" },
  host: {
    kind: "malformed",
    status: 400,
    reason: "Host is there twice, or is not a host and a port",
  },
  contentLength: {
    kind: "malformed",
    status: 400,
    reason: "Content-Length is not one whole number",
  },
  transferEncoding: {
    kind: "malformed",
    status: 501,
    reason: "Transfer-Encoding is not chunked alone, once",
  },
  oldTransferEncoding: {
    kind: "malformed",
    status: 400,
    reason: "Transfer-Encoding in an HTTP/1.0 message",
  },
  bothLengths: {
    kind: "malformed",
    status: 400,
    reason: "Content-Length and Transfer-Encoding in one message",
  },
  expectation: { kind: "malformed", status: 417, reason: "Expect is not 100-continue" },
  upgradeNotAsked: {
    kind: "malformed",
    status: 502,
    reason: "the server switches protocols without having been asked to",
  },
  chunkSize: {
    kind: "malformed",
    status: 400,
    reason: "a chunk does not begin with its size in hexadecimal digits",
  },
  chunkTooLarge: { kind: "malformed", status: 413, reason: "a chunk is larger than 2^52 bytes" },
  chunkExtension: {
    kind: "malformed",
    status: 400,
    reason: "a chunk extension has a control character",
  },
  chunkEnd: { kind: "malformed", status: 400, reason: "a chunk is not followed by CR LF" },
  trailer: { kind: "malformed", status: 400, reason: "a trailer line is not NAME: VALUE CR LF" },
  chunkOverhead: {
    kind: "malformed",
    status: 431,
    reason: "chunk extensions and trailers are larger than the limit",
  },
} as const;
