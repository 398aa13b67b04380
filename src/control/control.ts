import type { Caller, Command } from "./command.ts";
import type { ResourceSpec } from "./resource-spec.ts";
import type { Result } from "./result.ts";

/** A server's health has changed. */
export interface HealthEvent {
  readonly serverGroup: string;
  readonly server: string;
  /** Where the server is: `10.0.0.1:80`. */
  readonly address: string;
  readonly health: "up" | "down";
  /** Why it is down; empty where it is up. */
  readonly reason: string;
}

/** Throws where the state is not the one that a change is for. */
export type Condition = (revision: number) => void;

/** Everything that controllers have to do with. */
export interface Control {
  /** The table of commands. */
  readonly resources: readonly ResourceSpec[];
  /** @throws CoreError ERR_USAGE with all that is wrong with the words */
  parse(line: string): Command;
  /**
   * Carries it out, all or nothing, after those that came before. What it changed is kept, and true
   * on the data planes, when it settles.
   * @param condition looked at in its turn: nothing comes between it and the change
   * @throws CoreError, and what the condition throws
   */
  run(command: Command, caller: Caller, condition?: Condition): Promise<Result>;
  /** What could stand at the end of the line, whole words. */
  complete(line: string): readonly string[];
  /** The state of all that commands may change: changes whenever that does. */
  readonly revision: number;
  /** Calls `listener` until the result is called. */
  onHealth(listener: (event: HealthEvent) => void): () => void;
}
