import { invalid, type Problem } from "../../core/model/problems.ts";
import type { Action, ParamInput, ResourceCommand, ResourceRef } from "../command.ts";
import type { ParamSpec, ResourceSpec } from "../resource-spec.ts";
import {
  commandProblems,
  findActionSpec,
  paramsAnywhere,
  placesOf,
  refusedAnywhere,
} from "./check-command.ts";
import { duplicateKeyProblem } from "./duplicate-key.ts";
import { expectedOf, isStringMap, parseJson, withArticle } from "./param-value.ts";
import { unknownParam } from "./read-params.ts";
import { TokenCursor } from "./token-cursor.ts";
import type { Token } from "./tokenize.ts";
import { expectedResource, findResource, isListing, isPreposition } from "./words.ts";

/** A command with all that is wrong with its words. */
export interface ParsedCommand {
  readonly command: ResourceCommand;
  readonly problems: readonly Problem[];
}

/**
 * Reads what follows the action and the resource: `NAME`, then places and parameters in any order.
 * @param tokens after the resource
 */
export function parseResourceCommand(
  action: Action,
  resource: ResourceSpec,
  tokens: readonly Token[],
  resources: readonly ResourceSpec[],
): ParsedCommand {
  const reading = new Reading(action, resource, resources);
  const parsed = reading.read(tokens, !isListing(action));
  const first = tokens[0];
  const mayBeParam = first?.kind === "word" && reading.hasParam(first.text);
  if (parsed.problems.length === 0 || !mayBeParam || isListing(action)) return parsed;
  // `add tcp-lb address ...`: where leaving out the name explains it better, that is what is told.
  const nameless = new Reading(action, resource, resources).read(tokens, false);
  return nameless.problems.length <= parsed.problems.length ? nameless : parsed;
}

class Reading {
  readonly #action: Action;
  readonly #resource: ResourceSpec;
  readonly #resources: readonly ResourceSpec[];
  readonly #specs: ReadonlyMap<string, ParamSpec>;
  readonly #params = new Map<string, ParamInput>();
  readonly #within: ResourceRef[] = [];
  readonly #problems: Problem[] = [];
  /** Parameters whose problem is told already. */
  readonly #told = new Set<string>();

  constructor(action: Action, resource: ResourceSpec, resources: readonly ResourceSpec[]) {
    this.#action = action;
    this.#resource = resource;
    this.#resources = resources;
    this.#specs = new Map(paramsAnywhere(resource, action).map((spec) => [spec.name, spec]));
  }

  hasParam(name: string): boolean {
    return this.#specs.has(name);
  }

  read(tokens: readonly Token[], hasName: boolean): ParsedCommand {
    const cursor = new TokenCursor(tokens);
    const name = hasName && !isPreposition(cursor.peek()) ? (cursor.next()?.text ?? "") : "";
    if (isListing(this.#action)) this.#refuseName(cursor);
    for (let token = cursor.next(); token !== undefined; token = cursor.next()) {
      if (isPreposition(token)) this.#readPlace(token, cursor);
      else this.#readParam(token, cursor);
    }
    const command: ResourceCommand = {
      kind: "resource",
      action: this.#action,
      type: this.#resource.name,
      name,
      within: this.#within,
      params: this.#params,
    };
    return { command, problems: [...this.#problems, ...this.#checkProblems(command)] };
  }

  /** What the table says against it, without what the words were blamed for already. */
  #checkProblems(command: ResourceCommand): readonly Problem[] {
    const isPlaceBroken = this.#problems.some(({ path }) => path[0] === "in");
    const problems = commandProblems(command, this.#resources).filter(
      ({ path: [first] }) =>
        !(isPlaceBroken && first === "in") && !(typeof first === "string" && this.#told.has(first)),
    );
    const params = findActionSpec(command, this.#resources)?.params ?? [];
    const isIdle = this.#action === "update" && this.#params.size === 0 && this.#told.size === 0;
    if (!isIdle || params.length === 0) return problems;
    const names = params.map(({ name }) => name).join(", ");
    return [...problems, invalid(["parameters"], undefined, `one or more of ${names}`)];
  }

  #refuseName(cursor: TokenCursor): void {
    const token = cursor.peek();
    if (token === undefined || isPreposition(token) || this.hasParam(token.text)) return;
    cursor.next();
    const expected = `no name: "${this.#action} ${this.#resource.name}" is about all of them`;
    this.#problems.push(invalid(["name"], token.text, expected));
  }

  /** `in tcp-lb lb0`; a name may not be a preposition that is not quoted. */
  #readPlace(preposition: Token, cursor: TokenCursor): void {
    const typeToken = isPreposition(cursor.peek()) ? undefined : cursor.next();
    if (typeToken === undefined) {
      const expected = `a resource and its name after "${preposition.text}"`;
      this.#problems.push(invalid(["in"], undefined, expected));
      return;
    }
    const type = findResource(typeToken.text, this.#resources)?.name;
    const nameToken = isPreposition(cursor.peek()) ? undefined : cursor.next();
    if (type === undefined) {
      const expected = expectedResource(typeToken.text, this.#resources);
      this.#problems.push(invalid(["in"], typeToken.text, expected));
    } else if (nameToken === undefined || nameToken.text === "") {
      this.#problems.push(invalid(["in", type], undefined, `the name of ${withArticle(type)}`));
    } else {
      this.#within.push({ type, name: nameToken.text });
    }
  }

  #readParam(token: Token, cursor: TokenCursor): void {
    const spec = token.kind === "word" ? this.#specs.get(token.text) : undefined;
    if (spec === undefined) {
      this.#refuseParam(token, cursor);
      return;
    }
    const isTwice = this.#params.has(spec.name) || this.#told.has(spec.name);
    const input = spec.kind === "flag" ? readFlag(cursor) : this.#readInput(spec, cursor);
    if (!isTwice) {
      if (input !== undefined) this.#params.set(spec.name, input);
      return;
    }
    const value = "given twice";
    this.#blame(spec.name, { path: [spec.name], fault: "malformed", value, expected: "it once" });
  }

  /** Takes what seems to be the value of an unknown parameter along, so that it is not blamed too. */
  #refuseParam(token: Token, cursor: TokenCursor): void {
    const value = cursor.peek();
    const isValue = value !== undefined && !isPreposition(value) && !this.hasParam(value.text);
    if (isValue) cursor.next();
    // Where nothing of the kind can be done, that is told instead.
    if (placesOf(this.#resource, this.#action).length === 0) return;
    const refused = refusedAnywhere(this.#resource, this.#action);
    this.#blame(token.text, unknownParam(token.text, [...this.#specs.keys()], refused));
  }

  #readInput(spec: ParamSpec, cursor: TokenCursor): ParamInput | undefined {
    const token = isPreposition(cursor.peek()) ? undefined : cursor.next();
    if (token === undefined) {
      this.#blame(spec.name, invalid([spec.name], undefined, expectedOf(spec)));
      return undefined;
    }
    if (token.kind !== "json") return token.text;
    const value = parseJson(token.text);
    const twice = duplicateKeyProblem(token.text, [spec.name]);
    if (isStringMap(value) && twice === undefined) return value;
    this.#blame(spec.name, twice ?? invalid([spec.name], token.text, expectedOf(spec)));
    return undefined;
  }

  #blame(name: string, problem: Problem): void {
    this.#problems.push(problem);
    this.#told.add(name);
  }
}

/** A flag stands alone; `true` and `false` after it say the same as in JSON. */
function readFlag(cursor: TokenCursor): boolean {
  const token = cursor.peek();
  if (token?.kind !== "word" || (token.text !== "true" && token.text !== "false")) return true;
  cursor.next();
  return token.text === "true";
}
