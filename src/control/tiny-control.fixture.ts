import { CoreError } from "../core/errors.ts";
import type { Caller, Command, ResourceCommand } from "./command.ts";
import type { Condition, Control } from "./control.ts";
import { parseCommand } from "./grammar/parse-command.ts";
import { FIXTURE_RESOURCES } from "./grammar/resources.fixture.ts";
import { DONE, type Result } from "./result.ts";

export interface GivenCommand {
  readonly command: Command;
  readonly caller: Caller;
}

/** A control that keeps what it is told in lists of names, for the tests of controllers. */
export class TinyControl implements Control {
  readonly resources: Control["resources"] = FIXTURE_RESOURCES;
  readonly revision = 0;
  readonly given: GivenCommand[] = [];
  readonly #names = new Map<string, Set<string>>();
  /** What `list-detail` gives. */
  records: Extract<Result, { kind: "records" }>["records"] = [];
  /** What every command gives, where it is set. */
  result: Result | undefined;
  /** What is waited for before a command is carried out. */
  before: (command: Command) => Promise<void> = async () => undefined;

  parse(line: string): Command {
    return parseCommand(line, this.resources);
  }

  async run(command: Command, caller: Caller, condition?: Condition): Promise<Result> {
    this.given.push({ command, caller });
    await this.before(command);
    condition?.(this.revision);
    if (this.result !== undefined) return this.result;
    switch (command.kind) {
      case "resource":
        return this.#runResource(command);
      case "man":
        return { kind: "text", text: "the manual\nof two lines with \u00e4 and \u{1f30d}" };
      case "system":
        return this.#runSystem(command.verb, caller);
    }
  }

  complete(line: string): readonly string[] {
    return line.includes(" ") ? ["tcp-lb", "upstream"] : ["add", "list", "list-detail"];
  }

  onHealth(): () => void {
    return () => undefined;
  }

  #runResource({ action, type, name }: ResourceCommand): Result {
    const names = this.#names.get(type) ?? new Set();
    this.#names.set(type, names);
    switch (action) {
      case "list":
        return { kind: "names", names: [...names] };
      case "list-detail":
        return { kind: "records", records: this.records };
      case "add":
        names.add(name);
        return DONE;
      case "update":
        return { kind: "done", note: "it takes a moment" };
      default:
        if (names.delete(name)) return DONE;
        throw new CoreError("ERR_NOT_FOUND", `${type} ${name} is not there\nadd it first`);
    }
  }

  #runSystem(verb: string, { maySystem }: Caller): Result {
    if (verb === "version") return { kind: "text", text: "portolan 1.2.3" };
    if (verb === "lookup") throw new Error("a secret of the implementation");
    if (!maySystem) throw new CoreError("ERR_REFUSED", `${verb} may not be given here`);
    return DONE;
  }
}
