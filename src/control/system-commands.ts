import { CoreError } from "../core/errors.ts";
import { Turns } from "../core/turns.ts";
import type { Caller, SystemCommand, SystemVerb } from "./command.ts";
import { loadConfig } from "./config-text/load-config.ts";
import { readConfig } from "./config-text/read-config.ts";
import { renderConfig } from "./config-text/render-config.ts";
import { renderManual } from "./manual/render-manual.ts";
import { frozenView, viewOf } from "./resources/state-view.ts";
import { RESOURCES } from "./resources/table.ts";
import { DONE, type Result } from "./result.ts";
import type { ControlWorld } from "./world.ts";

/** Those that anybody may give. */
const PLAIN_VERBS: ReadonlySet<SystemVerb> = new Set(["help", "version", "list config"]);

/** @throws CoreError ERR_REFUSED */
export function assertMaySystem(what: string, caller: Caller): void {
  if (caller.maySystem) return;
  throw new CoreError(
    "ERR_REFUSED",
    `"${what}" is for the console; start with --allow-system-commands to allow it over ${caller.via}`,
  );
}

/** The commands about the instance itself. What takes long is done outside of the turns of all commands. */
export class SystemCommands {
  readonly #world: ControlWorld;
  readonly #turns: Turns;
  /** One file at a time, so that of two that write one file the later wins. */
  readonly #writes = new Turns();

  constructor(world: ControlWorld, turns: Turns) {
    this.#world = world;
    this.#turns = turns;
  }

  async run({ verb, args }: SystemCommand, caller: Caller): Promise<Result> {
    if (!PLAIN_VERBS.has(verb)) assertMaySystem(verb, caller);
    const [argument = ""] = args;
    switch (verb) {
      case "help":
        return { kind: "text", text: renderManual(RESOURCES) };
      case "version":
        return { kind: "text", text: this.#world.version };
      case "list config":
        return { kind: "text", text: await this.#config() };
      case "save":
        return this.#save(argument);
      case "load":
        return this.#load(argument);
      case "lookup":
        return { kind: "names", names: await this.#world.lookup(argument) };
      case "shutdown":
        this.#world.shutdown();
        return { kind: "done", note: "the instance ends" };
    }
  }

  /** The state at its turn; that it is written down takes longer, and nobody waits for it. */
  async #config(): Promise<string> {
    const world = this.#world;
    const { view, kept } = await this.#turns.take(async () => ({
      view: frozenView(viewOf(world.store)),
      kept: world.kept(),
    }));
    return renderConfig(view, kept);
  }

  /** What is written is the state at its turn, however long files before it take. */
  async #save(path: string): Promise<Result> {
    const config = this.#config();
    // It is waited for only when the file's turn comes.
    config.catch(() => undefined);
    return this.#writes.take(async () => {
      await this.#world.writeFile(path, await config);
      return DONE;
    });
  }

  async #load(path: string): Promise<Result> {
    const steps = await readConfig(path, this.#world);
    return loadConfig(steps, this.#world, this.#turns);
  }
}
