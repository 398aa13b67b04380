import fc from "fast-check";
import { ACTIONS, type ParamInput, type ResourceCommand } from "../command.ts";
import type { ResourceName } from "../resource-names.ts";
import type { ActionSpec, ParamSpec, ResourceSpec } from "../resource-spec.ts";
import { isListing } from "./words.ts";

interface Possible {
  readonly type: ResourceName;
  readonly action: ResourceCommand["action"];
  readonly place: readonly ResourceName[];
  readonly spec: ActionSpec;
}

/** Names as unkind as they can be typed. */
const names = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.constantFrom(
    "in",
    "to",
    "from",
    "add",
    "weight",
    "{",
    '"',
    "'",
    "\\",
    "a b",
    "#x",
    "\n",
    "x/y",
  ),
);

/** Commands that a table allows, as text gives them: values are texts, flags or objects. */
export function typedCommands(resources: readonly ResourceSpec[]): fc.Arbitrary<ResourceCommand> {
  return fc.constantFrom(...possible(resources)).chain(({ type, action, place, spec }) =>
    fc.record({
      kind: fc.constant("resource" as const),
      action: fc.constant(action),
      type: fc.constant(type),
      name: isListing(action) ? fc.constant("") : names,
      within: fc.tuple(...place.map((at) => fc.record({ type: fc.constant(at), name: names }))),
      params: params(spec, action),
    }),
  );
}

function possible(resources: readonly ResourceSpec[]): readonly Possible[] {
  return resources.flatMap(({ name: type, scopes }) =>
    scopes.flatMap(({ within, actions }) =>
      ACTIONS.flatMap((action) => {
        const spec = actions[action];
        return spec === undefined ? [] : within.map((place) => ({ type, action, place, spec }));
      }),
    ),
  );
}

function params(
  { params: specs }: ActionSpec,
  action: ResourceCommand["action"],
): fc.Arbitrary<ReadonlyMap<string, ParamInput>> {
  const isNeeded = (spec: ParamSpec): boolean => action === "add" && spec.required === true;
  const chosen = fc
    .shuffledSubarray([...specs], {
      minLength: action === "update" ? Math.min(1, specs.length) : 0,
    })
    .map((some) => [...some, ...specs.filter((spec) => isNeeded(spec) && !some.includes(spec))]);
  return chosen
    .chain((some) =>
      fc.tuple(...some.map((spec) => inputs(spec).map((input) => [spec.name, input] as const))),
    )
    .map((entries) => new Map(entries));
}

/** Valid values of a parameter. */
function inputs(spec: ParamSpec): fc.Arbitrary<ParamInput> {
  const nameTexts = fc.string({
    unit: fc.constantFrom(..."ab1(){-.\"'"),
    minLength: 1,
    maxLength: 8,
  });
  switch (spec.kind) {
    case "text":
      return fc.string({ unit: "grapheme-ascii", minLength: 1, maxLength: 20 });
    case "integer":
      return fc.integer({ min: spec.min, max: spec.max }).map(String);
    case "enum":
      return fc.constantFrom(...spec.values, ...Object.keys(spec.aliases ?? {}));
    case "address":
      return fc.constantFrom(
        ...["10.0.0.1:80", "[fd00::1]:443", "a.example:1"],
        ...(spec.unix === true ? ["unix:/run/a 'b'.sock"] : []),
      );
    case "list":
      return fc.array(nameTexts, { minLength: 1, maxLength: 4 }).map((list) => list.join(","));
    case "reference":
      return nameTexts;
    case "strings":
      return fc.dictionary(fc.string(), fc.string(), { noNullPrototype: true });
    case "flag":
      return fc.boolean();
  }
}
