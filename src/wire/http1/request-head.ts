import { type BodyFraming, NO_BODY } from "./body-framing.ts";
import type { FieldTable } from "./field-table.ts";
import { type HeadFacts, NO_FIELD } from "./head-facts.ts";
import { pathOf, type RequestLine } from "./request-line.ts";

/**
 * The head of a request. It points into the bytes that it was read from, and is good until these
 * change or the next head is read.
 */
export class RequestHead {
  readonly line: RequestLine;
  readonly fields: FieldTable;
  readonly facts: HeadFacts;
  /** Where the body begins. */
  end = 0;

  constructor(line: RequestLine, fields: FieldTable, facts: HeadFacts) {
    this.line = line;
    this.fields = fields;
    this.facts = facts;
  }

  get method(): string {
    return this.line.method;
  }

  /** The host, with the port where one is said; a target that holds one wins over the field. */
  get host(): string {
    const { authorityStart, authorityEnd } = this.line;
    if (authorityEnd > authorityStart) {
      return this.fields.bytes.toString("latin1", authorityStart, authorityEnd);
    }
    return this.facts.host === NO_FIELD ? "" : this.fields.value(this.facts.host);
  }

  /** Without the query; `/` where the target has none but is not for the server as a whole. */
  get path(): string {
    return pathOf(this.line, this.fields.bytes);
  }

  get body(): BodyFraming {
    return this.facts.announcedBody ?? NO_BODY;
  }

  /** Whether the client may send another request on the connection. */
  get keepsAlive(): boolean {
    return this.facts.isPersistent(this.line.minorVersion);
  }

  /** Whether the client waits for a 100 before it sends the body. */
  get expectsContinue(): boolean {
    return this.facts.expect !== NO_FIELD && this.line.minorVersion > 0;
  }

  /**
   * The protocol that the client would like to change to; empty where none, or where it may not be
   * passed on: `h2c` would carry requests past everything that is decided here.
   */
  get upgrade(): string {
    const { saysUpgrade, upgrade } = this.facts;
    if (!saysUpgrade || upgrade === NO_FIELD || this.line.minorVersion === 0) return "";
    const protocol = this.fields.value(upgrade);
    return /(^|[\s,])h2c?\s*(,|$)/i.test(protocol) ? "" : protocol;
  }
}
