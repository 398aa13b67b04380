import type { FieldList } from "./hpack/field-list.ts";
import type { HeaderField } from "./hpack/header-field.ts";
import { MessageFields, NO_LENGTH } from "./message-fields.ts";

/** The head of a response, checked. */
export interface Http2ResponseHead {
  readonly status: number;
  readonly fields: readonly HeaderField[];
  /** -1 where it is not said. */
  readonly contentLength: number;
}

const SWITCHING_PROTOCOLS = 101;
const FIRST_FINAL = 200;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/** Undefined where it is malformed (RFC 9113 section 8.3.2). */
export function readResponseHead(list: FieldList): Http2ResponseHead | undefined {
  const message = new MessageFields();
  if (!message.read(list)) return undefined;
  const { fields, contentLength } = message;
  const text = message.status ?? "";
  const status = /^[1-9]\d\d$/.test(text) ? Number(text) : 0;
  message.status = undefined;
  const isAlone = !message.hasPseudo && message.host === undefined;
  if (status === 0 || status === SWITCHING_PROTOCOLS || !isAlone) return undefined;
  return { status, fields, contentLength };
}

/** Whether another response to the same request follows. */
export function isInterim(status: number): boolean {
  return status < FIRST_FINAL;
}

/** How many bytes its body has; -1 where that is not known. */
export function bodyBytesOf({ status, contentLength }: Http2ResponseHead, method: string): number {
  const isBodiless = method === "HEAD" || status === NO_CONTENT || status === NOT_MODIFIED;
  return isBodiless ? NO_LENGTH : contentLength;
}
