import { nearest } from "../../core/model/problems.ts";
import { ACTIONS, type Action } from "../command.ts";
import type { ResourceSpec } from "../resource-spec.ts";
import type { Token } from "./tokenize.ts";

/** Other words for the actions; the case of a letter matters. */
export const ACTION_SHORTS: Readonly<Record<Action, readonly string[]>> = {
  add: ["a"],
  list: ["ls", "l"],
  "list-detail": ["ll", "L"],
  update: ["mod", "u"],
  remove: ["rm", "r"],
  "force-remove": ["R"],
};

/** They all say where something is; which one is typed does not matter. */
export const PREPOSITIONS = ["in", "to", "from"] as const;

/** Whether an action is about all that there are, and so takes no name. */
export function isListing(action: Action): boolean {
  return action === "list" || action === "list-detail";
}

export function findAction(word: string): Action | undefined {
  return ACTIONS.find((action) => action === word || ACTION_SHORTS[action].includes(word));
}

export function findResource(
  word: string,
  resources: readonly ResourceSpec[],
): ResourceSpec | undefined {
  return resources.find(({ name, shorts }) => name === word || shorts.includes(word));
}

/** Quoted it is a name or a value. */
export function isPreposition(token: Token | undefined): boolean {
  return token?.kind === "word" && PREPOSITIONS.some((word) => word === token.text);
}

/** The word that reads best before a place: `add ... to ... in ...`. */
export function prepositionOf(action: Action, index: number): (typeof PREPOSITIONS)[number] {
  if (index > 0) return "in";
  if (action === "add") return "to";
  return action === "remove" || action === "force-remove" ? "from" : "in";
}

/** What would be right for an action that is none: the one that was probably meant, or all. */
export function expectedAction(word: string): string {
  const shorts = ACTIONS.flatMap((action) =>
    ACTION_SHORTS[action].filter(({ length }) => length > 1),
  );
  return quotedNearest(word, [...ACTIONS, ...shorts]) ?? `one of ${ACTIONS.join(", ")}`;
}

export function expectedResource(word: string, resources: readonly ResourceSpec[]): string {
  const names = resources.map(({ name }) => name);
  const shorts = resources.flatMap((resource) => resource.shorts);
  return quotedNearest(word, [...names, ...shorts]) ?? `one of ${names.join(", ")}`;
}

function quotedNearest(word: string, known: readonly string[]): string | undefined {
  const near = nearest(word, known);
  return near === undefined ? undefined : JSON.stringify(near);
}
