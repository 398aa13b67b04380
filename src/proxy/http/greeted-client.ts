import type { ProxiedConnection } from "../../wire/proxy-protocol/proxy-header.ts";
import type { RelayEnd } from "../relay/relay-end.ts";
import type { HttpService } from "./http-service.ts";

/** A client that came in already, and is counted: its first bytes were read to know what it speaks. */
export interface GreetedClient {
  /** By which it came in. */
  readonly service: HttpService;
  readonly end: RelayEnd;
  /** Its canonical address. */
  readonly peer: string;
  /** What a trusted proxy has said about it. */
  readonly proxied: ProxiedConnection | undefined;
  /** All that it has said, after what it said about itself. */
  readonly bytes: Buffer;
}
