import { CoreError } from "../core/errors.ts";
import { canonicalJson } from "../core/model/hash.ts";
import { Turns } from "../core/turns.ts";
import type { Caller, Command, ResourceCommand } from "./command.ts";
import type { Condition, Control, HealthEvent } from "./control.ts";
import { checkCommand } from "./grammar/check-command.ts";
import { complete } from "./grammar/complete.ts";
import { parseCommand } from "./grammar/parse-command.ts";
import { ParamReader } from "./grammar/read-params.ts";
import { knownNames, namesOfServer } from "./known-names.ts";
import { renderManual } from "./manual/render-manual.ts";
import type { ActionCall } from "./resource-handler.ts";
import { HANDLERS, RESOURCES } from "./resources/table.ts";
import type { Result } from "./result.ts";
import { assertMaySystem, SystemCommands } from "./system-commands.ts";
import type { ControlWorld } from "./world.ts";

/**
 * The commands of an instance, one after the other, for whichever controllers it has.
 * @param turns in which others too change what commands change: what one has planned must not be
 *   changed by another before it is made
 */
export function createControl(world: ControlWorld, turns: Turns = new Turns()): Control {
  return new InstanceControl(world, turns);
}

class InstanceControl implements Control {
  readonly resources: Control["resources"] = RESOURCES;
  readonly #world: ControlWorld;
  readonly #turns: Turns;
  readonly #system: SystemCommands;
  /** How often what is kept beside the objects was seen to differ. */
  #keptChanges = 0;
  #lastKept: string;

  constructor(world: ControlWorld, turns: Turns) {
    this.#world = world;
    this.#turns = turns;
    this.#system = new SystemCommands(world, turns);
    this.#lastKept = canonicalJson(world.kept());
  }

  get revision(): number {
    const kept = canonicalJson(this.#world.kept());
    if (kept !== this.#lastKept) {
      this.#lastKept = kept;
      this.#keptChanges += 1;
    }
    return this.#world.store.revision + this.#keptChanges;
  }

  parse(line: string): Command {
    return parseCommand(line, RESOURCES);
  }

  complete(line: string): readonly string[] {
    return complete(line, RESOURCES, (type) => knownNames(this.#world, type));
  }

  async run(command: Command, caller: Caller, condition?: Condition): Promise<Result> {
    switch (command.kind) {
      case "man":
        return { kind: "text", text: renderManual(RESOURCES, command.type, command.action) };
      case "system":
        return this.#system.run(command, caller);
      case "resource":
        return this.#runResource(command, caller, condition);
    }
  }

  async #runResource(
    command: ResourceCommand,
    caller: Caller,
    condition: Condition | undefined,
  ): Promise<Result> {
    const { action, type, within } = command;
    const { params } = checkCommand(command, RESOURCES);
    const handler = HANDLERS.find(({ spec }) => spec.name === type);
    const act = handler?.actions[action];
    if (handler === undefined || act === undefined) {
      throw new CoreError(
        "ERR_USAGE",
        `${action} ${type}: there is no such command; see man ${type}`,
      );
    }
    if (handler.spec.isSystem) assertMaySystem(`${action} ${type}`, caller);
    const call: ActionCall = {
      command,
      params: new ParamReader(command.params, params),
      within,
      world: this.#world,
      options: { isLoading: false },
    };
    const isExamined = handler.examine !== undefined && (action === "add" || action === "update");
    // Others take their turn at once: a wait, be it for nothing, would let later ones overtake.
    if (isExamined) await handler.examine?.(call);
    if (action === "list" || action === "list-detail") return this.#turns.look(() => act(call));
    return this.#turns.take(async () => {
      condition?.(this.revision);
      return act(call);
    });
  }

  onHealth(listener: (event: HealthEvent) => void): () => void {
    const { engine } = this.#world;
    const stop = engine?.onHealth((key, { health, reason }) => {
      const address = engine.servers().get(key)?.address ?? "";
      listener({ ...namesOfServer(key), address, health, reason });
    });
    return stop ?? (() => undefined);
  }
}
