import type { UnservedListener } from "../../backends/backend.ts";
import type { Caller } from "../../control/command.ts";
import type { Control } from "../../control/control.ts";
import type { ControlWorld } from "../../control/world.ts";
import { CoreError } from "../../core/errors.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";

/** What commands are carried out by. */
export interface ControlPart {
  readonly control: Control;
  readonly world: ControlWorld;
  readonly journal: { readonly path: string; readonly bytes: number };
  /** One after the other with the commands, told in the audit. */
  readonly change: <T>(what: string, caller: Caller, act: () => Promise<T>) => Promise<T>;
}

/**
 * What requests speak to, as it comes into being: the instance socket is there before the sources are
 * read, so that a second process is refused at once.
 */
export interface LiveParts {
  store?: GlobalStore;
  control?: ControlPart;
  /** Whether it will have a control part, once it is up. */
  readonly isControlled: boolean;
  readonly startedMs: number;
  /** How many of the things that each backend can not honour hold whatever the state is. */
  always?: ReadonlyMap<string, number>;
  /** What the backends do not serve at this moment. */
  unserved?: () => readonly UnservedListener[];
  /** For people: how a source goes, in numbers. */
  sourceDetails?: (owner: string) => string | undefined;
  readonly metricsText: () => Promise<string>;
}

/** @throws CoreError ERR_NOT_POSSIBLE_HERE, ERR_INSTANCE */
export function controlOf(live: LiveParts): ControlPart {
  if (live.control !== undefined) return live.control;
  if (live.isControlled) throw stillStarting();
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    "this instance takes no commands; start it with portolan up",
  );
}

/** @throws CoreError ERR_NOT_POSSIBLE_HERE, ERR_INSTANCE */
export function storeOf(live: LiveParts): GlobalStore {
  if (live.store !== undefined) return live.store;
  if (live.isControlled) throw stillStarting();
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    "this instance holds no state of its own: what its API says goes straight to its backends",
  );
}

function stillStarting(): CoreError {
  return new CoreError(
    "ERR_INSTANCE",
    "the instance still starts: its sources have not said all that they have; see portolan status",
  );
}
