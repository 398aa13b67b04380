import { invalid, type Problem, problemsError } from "../../core/model/problems.ts";
import type { ParamInput } from "../command.ts";
import type { ParamReader } from "../grammar/read-params.ts";
import type { ParamSpec } from "../resource-spec.ts";
import type { Cell } from "../result.ts";
import { keyOfName, nameOfKey } from "./names.ts";

/**
 * A parameter, and what it is of an object: from it come what is typed, what is checked, what is
 * shown and what is saved, so that none of them can forget it.
 */
export interface Field<O> {
  /** A second one is a flag that says the opposite. */
  readonly specs: readonly [ParamSpec, ParamSpec?];
  /** Whether `update` does not take it. */
  readonly isFixed?: boolean;
  /** Whether it is read before the others, which then win over it. */
  readonly isReadFirst?: boolean;
  /** As it would be typed. */
  readonly show: (object: O) => Cell;
  /** The object with what was given. */
  readonly read: (object: O, params: ParamReader, problems: Problem[]) => O;
}

/** Where a value is in an object. */
export interface Lens<O, V> {
  readonly get: (object: O) => V;
  readonly set: (object: O, value: V) => O;
}

/** What a text must be; gives its one spelling, undefined where it is not valid. */
export interface Rule {
  readonly spell: (text: string) => string | undefined;
  readonly expected: string;
}

type Spec<K extends ParamSpec["kind"]> = Omit<Extract<ParamSpec, { readonly kind: K }>, "kind">;

export function integer<O>(spec: Spec<"integer">, lens: Lens<O, number>): Field<O> {
  return plain({ ...spec, kind: "integer" }, lens, (params) => params.integer(spec.name));
}

export function word<O, W extends string>(
  spec: Spec<"enum">,
  words: readonly W[],
  lens: Lens<O, W>,
): Field<O> {
  return plain({ ...spec, kind: "enum" }, lens, (params) => params.oneOf(spec.name, words));
}

/** Empty where there is none. */
export function text<O>(spec: Spec<"text">, lens: Lens<O, string>, rule?: Rule): Field<O> {
  return plain({ ...spec, kind: "text" }, lens, (params, problems) => {
    const given = params.text(spec.name);
    if (given === undefined || given === "" || rule === undefined) return given;
    return spellOne(spec.name, given, rule, problems);
  });
}

export function list<O>(
  spec: Spec<"list">,
  lens: Lens<O, readonly string[]>,
  rule?: Rule,
): Field<O> {
  return plain({ ...spec, kind: "list" }, lens, (params, problems) => {
    const given = params.list(spec.name);
    if (given === undefined || rule === undefined) return given;
    return spellAll(spec.name, given, rule, problems);
  });
}

/** Something else by its name; its key is in the object, empty where there is none. */
export function reference<O>(spec: Spec<"reference">, lens: Lens<O, string>): Field<O> {
  const named: Lens<O, string> = {
    get: (object) => nameOfKey(lens.get(object)),
    set: (object, name) => lens.set(object, name === "" ? "" : keyOfName(name)),
  };
  return bareReference(spec, named);
}

/** The same for what has no namespace, such as groups of event loops. */
export function bareReference<O>(spec: Spec<"reference">, lens: Lens<O, string>): Field<O> {
  return plain({ ...spec, kind: "reference" }, lens, (params) => params.text(spec.name));
}

/** Several others by their names. */
export function references<O>(spec: Spec<"list">, lens: Lens<O, readonly string[]>): Field<O> {
  const named: Lens<O, readonly string[]> = {
    get: (object) => lens.get(object).map(nameOfKey),
    set: (object, names) => lens.set(object, names.map(keyOfName)),
  };
  return list(spec, named);
}

/** Two words that are each other's opposite; shown under the first. */
export function eitherFlag<O>(
  yes: Spec<"flag">,
  no: Spec<"flag">,
  lens: Lens<O, boolean>,
): Field<O> {
  return {
    specs: [
      { ...yes, kind: "flag" },
      { ...no, kind: "flag" },
    ],
    show: lens.get,
    read: (object, params) => {
      const value = params.either(yes.name, no.name);
      return value === undefined ? object : lens.set(object, value);
    },
  };
}

function plain<O, V extends Cell>(
  spec: ParamSpec,
  lens: Lens<O, V>,
  read: (params: ParamReader, problems: Problem[]) => V | undefined,
): Field<O> {
  return {
    specs: [spec],
    show: lens.get,
    read: (object, params, problems) => {
      const value = read(params, problems);
      return value === undefined ? object : lens.set(object, value);
    },
  };
}

/** The entries in their one spelling; a problem for each that is not valid, or is there twice. */
export function spellAll(
  name: string,
  entries: readonly string[],
  rule: Rule,
  problems: Problem[],
): readonly string[] {
  const spelled = new Set<string>();
  for (const entry of entries) {
    const spelling = spellOne(name, entry, rule, problems);
    if (spelling !== undefined) spelled.add(spelling);
  }
  return [...spelled];
}

function spellOne(
  name: string,
  entry: string,
  rule: Rule,
  problems: Problem[],
): string | undefined {
  const spelling = rule.spell(entry);
  if (spelling === undefined) problems.push(invalid([name], entry, rule.expected));
  return spelling;
}

/** The parameters of `add`. */
export function addParams<O>(fields: readonly Field<O>[]): readonly ParamSpec[] {
  return fields.flatMap(({ specs }) => specs.filter((spec) => spec !== undefined));
}

/** The parameters of `update`. */
export function updateParams<O>(fields: readonly Field<O>[]): readonly ParamSpec[] {
  return addParams(fields.filter((field) => field.isFixed !== true));
}

/**
 * The object with all that was given.
 * @throws CoreError ERR_USAGE with all problems
 */
export function readFields<O>(
  fields: readonly Field<O>[],
  object: O,
  params: ParamReader,
  problems: Problem[] = [],
): O {
  let result = object;
  const inOrder = [
    ...fields.filter(({ isReadFirst }) => isReadFirst === true),
    ...fields.filter(({ isReadFirst }) => isReadFirst !== true),
  ];
  for (const field of inOrder) {
    const isGiven = field.specs.some((spec) => spec !== undefined && params.has(spec.name));
    if (isGiven) result = field.read(result, params, problems);
  }
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return result;
}

/** What `list-detail` shows of an object, in the order of the fields. */
export function showFields<O>(
  fields: readonly Field<O>[],
  object: O,
): Readonly<Record<string, Cell>> {
  return Object.fromEntries(fields.map((field) => [field.specs[0].name, field.show(object)]));
}

/** What has to be typed for the object, where `standard` is what comes of typing nothing. */
export function typedFields<O>(
  fields: readonly Field<O>[],
  object: O,
  standard: O,
): ReadonlyMap<string, ParamInput> {
  const typed = new Map<string, ParamInput>();
  for (const field of fields) {
    const value = field.show(object);
    const [spec, opposite] = field.specs;
    if (spec.required !== true && isSameCell(value, field.show(standard))) continue;
    if (opposite === undefined) typed.set(spec.name, value);
    else typed.set(value === true ? spec.name : opposite.name, true);
  }
  return typed;
}

function isSameCell(a: Cell, b: Cell): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}
