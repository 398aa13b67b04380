import type { Caller } from "../command.ts";
import type { Condition } from "../control.ts";

/** A request that may be answered: host, token and limits were checked. */
export interface ApiRequest {
  /** Names in the path, by the types that they name. */
  readonly names: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** @throws HttpRefusal */
  readBody(): Promise<unknown>;
  /** For a change: throws HttpRefusal 412 where the state is not the one that `If-Match` names. */
  readonly condition: Condition | undefined;
}
