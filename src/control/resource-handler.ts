import type { Action, ResourceCommand, ResourceRef } from "./command.ts";
import type { ParamReader } from "./grammar/read-params.ts";
import type { ResourceSpec } from "./resource-spec.ts";
import type { Result } from "./result.ts";
import type { ControlWorld } from "./world.ts";

/** How a command is meant, beside what it says. */
export interface CallOptions {
  /**
   * A configuration is being loaded: what it names may come later or never, and what is there already
   * with the same definition is no error.
   */
  readonly isLoading: boolean;
}

/** A command at work. */
export interface ActionCall {
  readonly command: ResourceCommand;
  /** Its parameters, checked and read by the specs of its action. */
  readonly params: ParamReader;
  /** Where it is, the nearest first: one of the ways that its spec knows. */
  readonly within: readonly ResourceRef[];
  readonly world: ControlWorld;
  readonly options: CallOptions;
}

/**
 * Carries a command out. Calls come one after the other; words, place and parameters were checked.
 * The fields of records are called as parameters are typed (`event-loop-group`).
 * @throws CoreError
 */
export type ActionHandler = (call: ActionCall) => Result | Promise<Result>;

/** A resource with what its actions do, in whichever place it stands. */
export interface ResourceHandler {
  readonly spec: ResourceSpec;
  readonly actions: Readonly<Partial<Record<Action, ActionHandler>>>;
  /**
   * Looks at what a change needs outside the state, before its turn: what takes long and changes
   * nothing.
   * @throws CoreError
   */
  readonly examine?: (call: ActionCall) => Promise<void>;
}
