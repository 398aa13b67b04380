import { CoreError } from "../../core/errors.ts";
import { ACTIONS, type Action, type ResourceRef } from "../command.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ParamSpec, ResourceSpec } from "../resource-spec.ts";
import { findActionSpec, paramsAnywhere, placesOf } from "./check-command.ts";
import { quoteWord } from "./format-command.ts";
import { SYSTEM_SYNTAX } from "./parse-system-command.ts";
import { TokenCursor } from "./token-cursor.ts";
import { type Token, tokenize } from "./tokenize.ts";
import { findAction, findResource, isListing, isPreposition, prepositionOf } from "./words.ts";

/** The names of resources that are there; of what is in others, all: a name is typed before its place. */
export type NamesOf = (type: ResourceName) => readonly string[];

const SYSTEM_PREFIX = "System:";

/** What could stand at the end of a line, whole words: in place of its last one, or as the next. */
export function complete(
  line: string,
  resources: readonly ResourceSpec[],
  namesOf: NamesOf,
): readonly string[] {
  const { before, partial } = split(line);
  if (before === undefined) return [];
  const words = candidates(before, partial, resources, namesOf);
  return [...new Set(words)].filter((word) => word.startsWith(partial));
}

/** The tokens before the word that is being typed; none where that is within quotes. */
function split(line: string): { before: readonly Token[] | undefined; partial: string } {
  const partial = /\S*$/.exec(line)?.[0] ?? "";
  try {
    return { before: tokenize(line.slice(0, line.length - partial.length)), partial };
  } catch (error) {
    if (error instanceof CoreError) return { before: undefined, partial };
    throw error;
  }
}

function candidates(
  before: readonly Token[],
  partial: string,
  resources: readonly ResourceSpec[],
  namesOf: NamesOf,
): readonly string[] {
  const tokens = before[0]?.text === SYSTEM_PREFIX ? before.slice(1) : before;
  const [first, second, ...more] = tokens;
  const verbs = SYSTEM_SYNTAX.flatMap(({ verb }) => (verb.includes(" ") ? [] : [verb]));
  if (first === undefined) return [...ACTIONS, "man", ...verbs];
  if (first.text === "man" || first.text === "help") return manWords(tokens.slice(1), resources);
  const action = findAction(first.text);
  if (action === undefined) return [];
  if (second === undefined) {
    const names = resources.flatMap((resource) =>
      placesOf(resource, action).length === 0 ? [] : [resource.name],
    );
    return action === "list" ? [...names, "config"] : names;
  }
  const resource = findResource(second.text, resources);
  if (resource === undefined) return [];
  return new Completion(action, resource, resources, namesOf).next(more, partial);
}

function manWords(args: readonly Token[], resources: readonly ResourceSpec[]): readonly string[] {
  const [type, ...more] = args;
  if (type === undefined) return resources.map(({ name }) => name);
  const resource = findResource(type.text, resources);
  if (resource === undefined || more.length > 0) return [];
  return ACTIONS.filter((action) => placesOf(resource, action).length > 0);
}

/** Walks over the words that stand after the resource, up to the one that is being typed. */
class Completion {
  readonly #action: Action;
  readonly #resource: ResourceSpec;
  readonly #resources: readonly ResourceSpec[];
  readonly #namesOf: NamesOf;
  readonly #specs: ReadonlyMap<string, ParamSpec>;
  readonly #within: ResourceRef[] = [];
  readonly #given = new Set<string>();

  constructor(
    action: Action,
    resource: ResourceSpec,
    resources: readonly ResourceSpec[],
    namesOf: NamesOf,
  ) {
    this.#action = action;
    this.#resource = resource;
    this.#resources = resources;
    this.#namesOf = namesOf;
    this.#specs = new Map(paramsAnywhere(resource, action).map((spec) => [spec.name, spec]));
  }

  next(tokens: readonly Token[], partial: string): readonly string[] {
    const cursor = new TokenCursor(tokens);
    if (!isListing(this.#action) && cursor.next() === undefined) return this.#ownNames();
    for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
      const open = isPreposition(token)
        ? this.#openPlace(cursor)
        : this.#openParam(token, cursor, partial);
      if (open !== undefined) return open;
    }
    return this.#following();
  }

  /** Names for the place of the name: none for what is made anew. */
  #ownNames(): readonly string[] {
    const places = placesOf(this.#resource, this.#action);
    const isAttached = places.some(({ length }) => length === 0) && places.length > 1;
    if (this.#action === "add" && !isAttached) return [];
    return this.#names(this.#resource.name);
  }

  /** What could follow a preposition; undefined where the place is said in full. */
  #openPlace(cursor: TokenCursor): readonly string[] | undefined {
    const typeToken = cursor.next();
    if (typeToken === undefined) return this.#nextPlaces();
    const type = findResource(typeToken.text, this.#resources)?.name;
    if (type === undefined) return [];
    const nameToken = cursor.next();
    if (nameToken === undefined) return this.#names(type);
    this.#within.push({ type, name: nameToken.text });
    return undefined;
  }

  /** What could follow a parameter; undefined where it is said in full. */
  #openParam(token: Token, cursor: TokenCursor, partial: string): readonly string[] | undefined {
    const spec = this.#specs.get(token.text);
    if (spec === undefined) return [];
    this.#given.add(spec.name);
    if (spec.kind === "flag" || cursor.next() !== undefined) return undefined;
    return this.#values(spec, partial);
  }

  #values(spec: ParamSpec, partial: string): readonly string[] {
    switch (spec.kind) {
      case "enum":
        return spec.values;
      case "reference":
        return this.#names(spec.to);
      case "list": {
        if (spec.references === undefined) return [];
        const before = partial.slice(0, partial.lastIndexOf(",") + 1);
        const taken = before.split(",");
        return this.#namesOf(spec.references)
          .filter((name) => !taken.includes(name))
          .map((name) => `${before}${name}`);
      }
      default:
        return [];
    }
  }

  /** Parameters that were not given, where the place is one; and how to say (more of) the place. */
  #following(): readonly string[] {
    const spec = findActionSpec(
      { type: this.#resource.name, action: this.#action, within: this.#within },
      this.#resources,
    );
    const params = (spec?.params ?? []).filter(({ name }) => !this.#given.has(name));
    const names = params.map(({ name }) => name);
    if (this.#nextPlaces().length === 0) return names;
    return [prepositionOf(this.#action, this.#within.length), ...names];
  }

  /** Types of resources that the place could be continued with. */
  #nextPlaces(): readonly ResourceName[] {
    const said = this.#within.map(({ type }) => type);
    return placesOf(this.#resource, this.#action).flatMap((way) => {
      const next = way[said.length];
      return next !== undefined && said.every((type, index) => type === way[index]) ? [next] : [];
    });
  }

  #names(type: ResourceName): readonly string[] {
    return this.#namesOf(type).map(quoteWord);
  }
}
