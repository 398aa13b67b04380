import type { RelayEnd } from "../relay/relay-end.ts";

/** A client that came in already, and is counted: its first bytes were read to know what it speaks. */
export interface GreetedClient {
  readonly end: RelayEnd;
  /** Its canonical address. */
  readonly peer: string;
  /** All that it has said, after what it said about itself. */
  readonly bytes: Buffer;
}
