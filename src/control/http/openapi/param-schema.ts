import { expectedOf } from "../../grammar/param-value.ts";
import type { ParamSpec } from "../../resource-spec.ts";

export type JsonSchema = Readonly<Record<string, unknown>>;

/** How a parameter looks in JSON. */
function paramSchema(spec: ParamSpec): JsonSchema {
  return { ...typeSchema(spec), description: describeParam(spec) };
}

function describeParam(spec: ParamSpec): string {
  const standard = spec.standard === undefined ? "" : ` Default: ${spec.standard}.`;
  return `${spec.help}.${standard} In commands: \`${spec.name}\`.`;
}

function typeSchema(spec: ParamSpec): JsonSchema {
  switch (spec.kind) {
    case "text":
      return spec.secret === true ? { type: "string", writeOnly: true } : { type: "string" };
    case "integer":
      return { type: "integer", minimum: spec.min, maximum: spec.max };
    case "enum":
      return { type: "string", enum: [...spec.values, ...Object.keys(spec.aliases ?? {})] };
    case "address":
      return { type: "string", examples: [expectedOf(spec)] };
    case "list":
      return { type: "array", items: { type: "string" } };
    case "reference":
      return { type: "string" };
    case "strings":
      return { type: "object", additionalProperties: { type: "string" } };
    case "flag":
      return { type: "boolean" };
  }
}

/** The body of a request; every field that is not named in it is refused. */
export function bodySchema(specs: readonly ParamSpec[], isNew: boolean): JsonSchema {
  const required = specs
    .filter((spec) => isNew && spec.required === true)
    .map(({ field }) => field);
  return {
    type: "object",
    additionalProperties: false,
    required: isNew ? ["name", ...required] : required,
    properties: { name: nameSchema(), ...propertiesOf(specs) },
  };
}

/** A thing as it is read: it has more fields than those that can be set. */
export function recordSchema(specs: readonly ParamSpec[]): JsonSchema {
  return {
    type: "object",
    required: ["name"],
    properties: { name: nameSchema(), ...propertiesOf(specs) },
    additionalProperties: true,
  };
}

function nameSchema(): JsonSchema {
  return { type: "string", description: "The name; `namespace/name` outside of the default one." };
}

function propertiesOf(specs: readonly ParamSpec[]): JsonSchema {
  return Object.fromEntries(specs.map((spec) => [spec.field, paramSchema(spec)]));
}
