import type { OptionSpecs } from "../core/options/option-spec.ts";

/** Where a command writes; a terminal has a size, and says `resize` when that changes. */
export type CliOutput = NodeJS.WritableStream & {
  readonly isTTY?: boolean;
  readonly columns?: number;
  readonly rows?: number;
};

/** What a command reads; a terminal can give keys one by one. */
export type CliInput = NodeJS.ReadableStream & {
  readonly isTTY?: boolean;
  setRawMode?(isRaw: boolean): unknown;
};

/** The world as a command sees it; tests give their own. */
export interface CliContext {
  readonly stdout: CliOutput;
  readonly stderr: NodeJS.WritableStream & { readonly isTTY?: boolean };
  /** Undefined where there is nothing to read. */
  readonly stdin?: CliInput;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly hostName: string;
}

export interface ArgumentSpec {
  readonly name: string;
  readonly help: string;
  /** What a shell may offer: these words, or files where there are none. */
  readonly values?: readonly string[];
  /** Words that a shell offers, though others are understood as well. */
  readonly suggestions?: readonly string[];
  readonly isOptional?: boolean;
  /** The last one only: what follows is more of it. */
  readonly isRepeated?: boolean;
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
  /** One for each argument of the spec; those that are optional may be missing. */
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
