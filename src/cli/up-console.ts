import { join } from "node:path";
import process from "node:process";
import { PassThrough } from "node:stream";
import { runConsole } from "../control/console/run-console.ts";
import { messageOf } from "../core/errors.ts";
import type { InstanceConfig } from "../daemon/config.ts";
import type { ControlConfig } from "../daemon/control-config.ts";
import type { Instance } from "../daemon/instance.ts";
import { instancePath } from "../daemon/presence.ts";
import type { CliContext, CliInput } from "./command-spec.ts";
import { connectConsole } from "./console/connect-console.ts";
import { NO_PAINT, paintFor } from "./text/paint.ts";

const HISTORY_NAME = "console-history";

/** The prompt on the terminal that an instance was started on. */
export class UpConsole {
  readonly #config: InstanceConfig;
  readonly #context: CliContext;
  #isOpen = false;

  constructor(config: InstanceConfig, context: CliContext) {
    this.#config = config;
    this.#context = context;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Opens it where that is asked for, now or by a command; there is none without a terminal. */
  offer(instance: Instance): void {
    const { stdin, stdout } = this.#context;
    const { control } = this.#config;
    if (control === undefined || stdin?.isTTY !== true || stdout.isTTY !== true) return;
    instance.controllers?.offerConsole(() => this.#open(instance, control, stdin));
    if (control.hasConsole) this.#open(instance, control, stdin);
  }

  #open(instance: Instance, control: ControlConfig, stdin: CliInput): void {
    const { stdout } = this.#context;
    const ending = new AbortController();
    const session = connectConsole(instancePath(control.stateFolder), {
      pid: process.pid,
      signal: ending.signal,
    });
    const input = new TerminalInput(stdin);
    this.#isOpen = true;
    const over = runConsole({
      input,
      output: stdout,
      errors: this.#context.stderr,
      isTerminal: true,
      hasColours: paintFor(this.#context) !== NO_PAINT,
      session,
      json: false,
      historyFile: join(control.stateFolder, HISTORY_NAME),
    }).finally(() => {
      ending.abort();
      input.leave();
      this.#isOpen = false;
      stdout.write("(this console has ended)\n");
      // It is gone already where it was removed by a command.
      instance.controllers?.remove("stdio-controller", "stdio").catch(() => undefined);
    });
    over.catch((error: unknown) => {
      const why = messageOf(error);
      this.#context.stderr.write(`portolan: the console has ended: ${why}\n`);
    });
    instance.controllers?.addConsole(async () => input.leave());
  }
}

/** What is typed on a terminal, up to when it is left to others. */
class TerminalInput extends PassThrough {
  readonly #terminal: CliInput;

  constructor(terminal: CliInput) {
    super();
    this.#terminal = terminal;
    terminal.pipe(this);
  }

  setRawMode(isRaw: boolean): void {
    this.#terminal.setRawMode?.(isRaw);
  }

  leave(): void {
    this.#terminal.unpipe(this);
    this.#terminal.pause();
    this.end();
  }
}
