import type { UnservedListener } from "../../backends/backend.ts";
import type { EnginePort } from "../../control/engine-port.ts";
import { CONTROL_OWNER } from "../../control/world.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Feed } from "../feed.ts";
import type { SyncProgress } from "../sync-progress.ts";
import type { ControlSide } from "./control-side.ts";

export interface StartParts {
  readonly progress: SyncProgress;
  readonly unserved: () => readonly UnservedListener[];
  readonly engine: EnginePort | undefined;
  /** Settles when controllers may listen. */
  readonly begun: Promise<void>;
  /** Lets them listen. */
  readonly open: () => Promise<void>;
  readonly signal: AbortSignal;
}

export interface StartedControl {
  /** Whether all sources had said what they have: then it is not waited for them. */
  readonly isAttached: boolean;
  /** Settles when commands are taken. */
  readonly opened: Promise<void>;
}

/**
 * Brings what commands made into force, after the sources, and lets controllers listen.
 * @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN
 */
export function startControl(
  side: ControlSide,
  { store, controlReport: report }: Feed,
  parts: StartParts,
): StartedControl {
  if (store === undefined || report === undefined) {
    throw new TypeError("commands need a store");
  }
  const attach = (): void => side.attach({ ...parts, store, report });
  const isAttached = haveSourcesSynced(store);
  if (isAttached) attach();
  const attached = isAttached
    ? Promise.resolve()
    : untilSourcesSynced(store, parts.signal).then(attach);
  const opened = attached.then(() => parts.begun).then(() => parts.open());
  // Told by `failed` of the instance, or by its start.
  opened.catch(() => undefined);
  return { isAttached, opened };
}

function haveSourcesSynced(store: GlobalStore): boolean {
  return [...store.unsynced()].every(
    ([owner, kinds]) => owner === CONTROL_OWNER || kinds.size === 0,
  );
}

async function untilSourcesSynced(store: GlobalStore, signal: AbortSignal): Promise<void> {
  while (!haveSourcesSynced(store)) await store.changed(signal);
}
