import type { OptionSpecs } from "../core/options/option-spec.ts";

/** The world as a command sees it; tests give their own. */
export interface CliContext {
  readonly stdout: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly hostName: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly help: string;
  /** What a shell may offer: these words, or files where there are none. */
  readonly values?: readonly string[];
}

export interface OptionGroup {
  readonly title: string;
  readonly specs: OptionSpecs;
}

export interface Example {
  readonly help: string;
  /** Without `portolan`. */
  readonly command: string;
}

export interface CommandInput {
  /** One for each argument of the spec. */
  readonly args: readonly string[];
  /** By the name in code, only those that were given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly context: CliContext;
  /** Every command, for those that speak about all. */
  readonly loadCommands: () => Promise<readonly CommandSpec[]>;
}

/** A command: from this one record come its parser, its help, its completion and its docs. */
export interface CommandSpec {
  readonly name: string;
  /** One sentence without a full stop. */
  readonly summary: string;
  /** What people need to know beyond the options. */
  readonly description?: string;
  readonly arguments: readonly ArgumentSpec[];
  readonly optionGroups: readonly OptionGroup[];
  readonly examples: readonly Example[];
  /** @returns the exit code */
  run(input: CommandInput): Promise<number>;
}
