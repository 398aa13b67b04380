import { flagName, type OptionSpec } from "../../core/options/option-spec.ts";
import { COMMAND_FAMILIES } from "../command-families.ts";
import type { CommandSpec } from "../command-spec.ts";

export const SHELLS = ["bash", "zsh", "fish"] as const;

export type Shell = (typeof SHELLS)[number];

/** What may stand somewhere: nothing, some words, a file, or anything. */
export type Offer =
  | { readonly kind: "none" }
  | { readonly kind: "words"; readonly words: readonly string[] }
  | { readonly kind: "file" }
  | { readonly kind: "any" };

export interface CompletedOption {
  /** With its dashes. */
  readonly flag: string;
  /** `-f`; empty where it has none. */
  readonly short: string;
  readonly help: string;
  readonly value: Offer;
  readonly isRepeatable: boolean;
}

export interface CompletedCommand {
  /** One word, or two. */
  readonly name: string;
  readonly help: string;
  readonly options: readonly CompletedOption[];
  readonly argument: Offer;
}

/** All that a shell can offer; the first word of commands that have two offers the second. */
export function completionModel(specs: readonly CommandSpec[]): readonly CompletedCommand[] {
  const families = [...COMMAND_FAMILIES].map(([name, help]): CompletedCommand => {
    const lead = `${name} `;
    const members = specs.filter((spec) => spec.name.startsWith(lead));
    const words = members.map((spec) => spec.name.slice(lead.length));
    return { name, help, options: [], argument: { kind: "words", words } };
  });
  return [...specs.map(completedCommand), ...families];
}

/** Whether a command is the second word of others. */
export function isMember({ name }: CompletedCommand): boolean {
  return name.includes(" ");
}

function completedCommand(spec: CommandSpec): CompletedCommand {
  return {
    name: spec.name,
    help: spec.summary,
    options: spec.optionGroups.flatMap(({ specs: options }) =>
      Object.entries(options)
        .filter(([, option]) => option.secret !== true)
        .map(([name, option]) => completedOption(name, option)),
    ),
    argument: argumentOffer(spec),
  };
}

function completedOption(name: string, spec: OptionSpec): CompletedOption {
  return {
    flag: `--${flagName(name)}`,
    short: spec.short === undefined ? "" : `-${spec.short}`,
    help: spec.help,
    value: valueOffer(spec),
    isRepeatable: spec.kind === "list",
  };
}

function valueOffer(spec: OptionSpec): Offer {
  if (spec.kind === "boolean") return { kind: "none" };
  if (spec.kind === "enum") return { kind: "words", words: spec.values };
  if (spec.suggestions !== undefined) return { kind: "words", words: spec.suggestions };
  return { kind: spec.placeholder === "FILE" ? "file" : "any" };
}

function argumentOffer(spec: CommandSpec): Offer {
  const [argument] = spec.arguments;
  if (argument === undefined) return { kind: "none" };
  const words = argument.values ?? argument.suggestions;
  return words === undefined ? { kind: "file" } : { kind: "words", words };
}
