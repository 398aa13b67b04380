import { CoreError } from "../../core/errors.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { callInstance, followInstance } from "../../daemon/instance-socket/client.ts";
import type {
  ApplyParams,
  ChangesResult,
  DeleteParams,
  GetParams,
  GetResult,
  WatchItem,
  WatchParams,
} from "../../daemon/instance-socket/state-protocol.ts";

/** What `apply`, `diff`, `get`, `delete` and `watch` speak to. */
export interface StateTarget {
  apply(params: ApplyParams & { readonly objects: readonly ModelObject[] }): Promise<ChangesResult>;
  delete(params: DeleteParams): Promise<ChangesResult>;
  get(params: GetParams): Promise<GetResult>;
  /** Until the signal ends it; where the target does, it fails. */
  watch(params: WatchParams, signal: AbortSignal): AsyncIterable<WatchItem>;
  /** May be called at any time, and more than once. */
  close(): void;
}

/** The instance that listens there. */
export function instanceTarget(path: string): StateTarget {
  return {
    apply: (params) => callInstance(path, "apply", params),
    delete: (params) => callInstance(path, "delete", params),
    get: (params) => callInstance(path, "get", params),
    watch: (params, signal) => watchInstance(path, params, signal),
    close: () => undefined,
  };
}

async function* watchInstance(
  path: string,
  params: WatchParams,
  signal: AbortSignal,
): AsyncGenerator<WatchItem> {
  try {
    yield* await followInstance(path, "watch", params, signal);
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof CoreError ? error : hasEnded(path, error);
  }
  if (!signal.aborted) throw hasEnded(path, undefined);
}

/** It closes what is followed, or the connection breaks. */
function hasEnded(path: string, cause: unknown): CoreError {
  return new CoreError("ERR_INSTANCE", `the instance at ${path} has ended`, { cause });
}
