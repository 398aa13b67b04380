import type { Caller } from "../command.ts";
import type { Result } from "../result.ts";

/** A request that may be answered: host, token and limits were checked. */
export interface ApiRequest {
  /** Names in the path, by the types that they name. */
  readonly names: ReadonlyMap<string, string>;
  readonly query: URLSearchParams;
  readonly caller: Caller;
  /** @throws HttpRefusal */
  readBody(): Promise<unknown>;
  /**
   * Changes something, where the state is still the one that `If-Match` names.
   * @throws HttpRefusal 412
   */
  change(work: () => Promise<Result>): Promise<Result>;
}
