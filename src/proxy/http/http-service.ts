import type { ProxyProtocol } from "../../core/model/listener.ts";
import type { RequestHint } from "../../core/route/packet.ts";
import type { DialTargets } from "../relay/dial-targets.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import type { ForwardedTrust } from "./forwarded-trust.ts";
import type { ServerPool } from "./server-pool.ts";

/** What an HTTP listener decides about the requests of its clients. */
export interface HttpService {
  readonly key: string;
  readonly row: CounterRow;
  readonly pool: ServerPool;
  /** How servers are told who calls. Then their connections are each for one client. */
  readonly greets: ProxyProtocol["send"];
  /** Whether it is no more: who still asks is answered, with the word to leave. */
  readonly isLeft: boolean;
  /** Whose word is taken for who its client is. */
  readonly trust: ForwardedTrust;
  /** Whether host and path of a request can make a difference. */
  readonly readsHints: boolean;
  readonly inBufferBytes: number;
  readonly outBufferBytes: number;
  readonly idleTimeoutMs: number;
  readonly connectTimeoutMs: number;
  /** The servers for one request, the best first. */
  targetsFor(client: string, hint: RequestHint): DialTargets;
  allows(client: string): boolean;
}
