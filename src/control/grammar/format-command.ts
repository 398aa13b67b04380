import type { Command, ManCommand, ParamInput, ResourceCommand } from "../command.ts";
import { isList } from "./param-value.ts";
import { isListing, PREPOSITIONS, prepositionOf } from "./words.ts";

/** What may stand without quotes: see `tokenize`. */
const PLAIN = /^[^\s"'{\p{Cc}][^\s"'\p{Cc}]*$/u;

/** The text that is read as this command: names and values quoted where they have to be. */
export function formatCommand(command: Command): string {
  switch (command.kind) {
    case "resource":
      return formatResourceCommand(command);
    case "system":
      return [command.verb, ...command.args.map(quoteWord)].join(" ");
    case "man":
      return formatManCommand(command);
  }
}

function formatResourceCommand(command: ResourceCommand): string {
  const { action, type, name, within, params } = command;
  const words: string[] = [action, type];
  if (!isListing(action)) words.push(quoteWord(name));
  within.forEach((place, index) => {
    words.push(prepositionOf(action, index), place.type, quoteWord(place.name));
  });
  for (const [param, input] of params) words.push(...formatParam(param, input));
  return words.join(" ");
}

function formatParam(name: string, input: ParamInput): readonly string[] {
  if (input === true) return [name];
  if (typeof input === "string") return [name, quoteWord(input)];
  if (typeof input !== "object") return [name, String(input)];
  return [name, isList(input) ? quoteWord(input.join(",")) : JSON.stringify(input)];
}

function formatManCommand({ type, action }: ManCommand): string {
  return ["man", type, action].filter((word) => word !== undefined).join(" ");
}

/** A name or a value as it is typed: in double quotes where it would be read as something else. */
export function quoteWord(text: string): string {
  const isPlain = PLAIN.test(text) && !PREPOSITIONS.some((word) => word === text);
  return isPlain ? text : JSON.stringify(text);
}
