import { CoreError } from "../core/errors.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import type { Source } from "../sources/source.ts";

export interface SnapshotOptions {
  /** The sources in order: the first wins a clash. Empty: a clash is refused. */
  readonly ownerOrder?: readonly string[];
  readonly timeoutMs?: number;
}

const DEFAULT_TIMEOUT_MS = 15_000;

/**
 * The state of the sources once each of them has said all it has; the sources are closed again.
 * @throws CoreError of the source that failed, or ERR_ABORTED after the time-out
 */
export async function takeSnapshot(
  sources: readonly Source[],
  options: SnapshotOptions = {},
): Promise<GlobalStore> {
  const store = new GlobalStore({ ownerOrder: options.ownerOrder ?? [] });
  for (const { owner } of sources) store.register(owner);
  const ended = new AbortController();
  const timeoutMs = options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
  const timer = setTimeout(() => ended.abort(tooLate(timeoutMs, sources)), timeoutMs);
  const report = {
    ok: () => undefined,
    failed: (error: CoreError) => ended.abort(error),
  };
  try {
    await Promise.all(sources.map((source) => source.start(store, report)));
    while (!store.isSynced()) await store.changed(ended.signal);
    return store;
  } catch (error) {
    throw ended.signal.aborted ? ended.signal.reason : error;
  } finally {
    clearTimeout(timer);
    await Promise.all(sources.map((source) => source.close()));
  }
}

function tooLate(timeoutMs: number, sources: readonly Source[]): CoreError {
  const owners = sources.map((source) => source.owner).join(", ");
  return new CoreError("ERR_ABORTED", `${owners}: no state within ${timeoutMs / 1000} s`);
}
