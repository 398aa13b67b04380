import { type BodyFraming, NO_BODY, TUNNEL, UNTIL_CLOSE } from "./body-framing.ts";
import type { FieldTable } from "./field-table.ts";
import type { HeadFacts } from "./head-facts.ts";

/** What a response answers; without it the end of its body can not be known. */
export interface RequestContext {
  readonly method: string;
  /** Whether a change of protocol was asked for. */
  readonly asksUpgrade: boolean;
}

const SWITCHING_PROTOCOLS = 101;
const NO_CONTENT = 204;
const NOT_MODIFIED = 304;

/**
 * The head of a response. It points into the bytes that it was read from, and is good until these
 * change or the next head is read.
 */
export class ResponseHead {
  readonly fields: FieldTable;
  readonly facts: HeadFacts;
  minorVersion = 0;
  status = 0;
  /** Where the status line begins. */
  start = 0;
  /** Where the body begins. */
  end = 0;
  body: BodyFraming = NO_BODY;

  constructor(fields: FieldTable, facts: HeadFacts) {
    this.fields = fields;
    this.facts = facts;
  }

  /** Another response to the same request follows. */
  get isInterim(): boolean {
    return this.status < 200 && this.status !== SWITCHING_PROTOCOLS;
  }

  /** Whether the server can be sent another request on the connection. */
  get keepsAlive(): boolean {
    const endsItself = this.body.kind !== "until-close" && this.body.kind !== "tunnel";
    return endsItself && this.facts.isPersistent(this.minorVersion);
  }
}

/** The rules of RFC 9112 section 6.3, in its order. */
export function responseBody(
  status: number,
  facts: HeadFacts,
  { method }: RequestContext,
): BodyFraming {
  if (status === SWITCHING_PROTOCOLS) return TUNNEL;
  if (method === "HEAD" || isBodiless(status)) return NO_BODY;
  if (method === "CONNECT" && status < 300) return TUNNEL;
  return facts.announcedBody ?? UNTIL_CLOSE;
}

/** Whatever its fields say. */
function isBodiless(status: number): boolean {
  return mayNotAnnounceBody(status) || status === NOT_MODIFIED;
}

/** Such a response has no body, and no field about its length either. */
export function mayNotAnnounceBody(status: number): boolean {
  return status < 200 || status === NO_CONTENT;
}
