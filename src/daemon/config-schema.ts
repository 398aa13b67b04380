import type { JsonSchema } from "../core/model/json-schema.ts";
import { flagName, type OptionSpec, type OptionSpecs } from "../core/options/option-spec.ts";

/** What is published as `schema/config.json`, for editors. */
export function configJsonSchema(
  options: readonly OptionSpecs[],
  backends: readonly { readonly name: string; readonly options: OptionSpecs }[],
): JsonSchema {
  const all = [...options, ...backends.map((backend) => backend.options)];
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $id: "urn:portolan:schema:config:1",
    title: "Portolan config file, version 1",
    type: "object",
    required: ["version"],
    additionalProperties: false,
    properties: {
      version: { const: 1 },
      options: objectOf(Object.assign({}, ...all.map(propertiesOf))),
      sources: {
        description: "What --from says",
        type: "array",
        items: { type: "string", pattern: "^(file:.+|kube(:.+)?|api(:.+)?|etcd(:.+)?)$" },
      },
      backends: {
        description: "What --to says",
        type: "array",
        items: { anyOf: [...backends.map(backendEntry), { enum: ["api", "auto"] }] },
      },
    },
  };
}

function backendEntry({
  name,
  options,
}: {
  readonly name: string;
  readonly options: OptionSpecs;
}): JsonSchema {
  const properties = { to: { const: name }, ...propertiesOf(options) };
  return { anyOf: [{ const: name }, { ...objectOf(properties), required: ["to"] }] };
}

function objectOf(properties: JsonSchema): JsonSchema {
  return { type: "object", additionalProperties: false, properties };
}

function propertiesOf(specs: OptionSpecs): JsonSchema {
  const entries = Object.entries(specs);
  return Object.fromEntries(entries.map(([name, spec]) => [flagName(name), valueSchema(spec)]));
}

function valueSchema(spec: OptionSpec): JsonSchema {
  const description = spec.help;
  const standard = "default" in spec ? { default: spec.default } : {};
  switch (spec.kind) {
    case "boolean":
      return { description, type: "boolean", default: false };
    case "number":
      return { description, type: "integer", minimum: spec.min, maximum: spec.max, ...standard };
    case "enum":
      return { description, enum: spec.values, ...standard };
    case "list":
      return { description, type: "array", items: { type: "string", minLength: 1 } };
    case "duration":
      return { description, type: "string", pattern: "^\\d{1,9}(ms|s|m|h)$", ...standard };
    case "address":
      return { description, type: ["string", "integer"], ...standard };
    case "string":
      return { description, type: "string", minLength: 1, ...standard };
  }
}
