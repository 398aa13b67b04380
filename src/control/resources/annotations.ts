import type { StringMap } from "../../core/model/common.ts";
import { invalid, type Problem } from "../../core/model/problems.ts";
import type { ParamInput } from "../command.ts";
import { readValue } from "../grammar/param-value.ts";
import { ParamReader } from "../grammar/read-params.ts";
import { addParams, type Field } from "./fields.ts";

/** Annotations that are parameters by another name. */
const HINT_ANNOTATIONS: ReadonlyMap<string, string> = new Map([
  ["vproxy/hint-host", "hint-host"],
  ["vproxy/hint-port", "hint-port"],
  ["vproxy/hint-uri", "hint-path"],
]);

const CHECK_ANNOTATIONS: ReadonlyMap<string, string> = new Map([
  ["vproxy/hc-http-method", "check-method"],
  ["vproxy/hc-http-url", "check-path"],
  ["vproxy/hc-http-host", "check-host"],
  ["vproxy/hc-http-status", "check-status"],
  ["vproxy/hc-dns-domain", "check-name"],
]);

const HELP = "vproxy/hint-host, vproxy/hint-port and vproxy/hint-uri are taken as the hints";

/** Any path. */
const ANY_URI = "*";

interface Annotated {
  readonly annotations: StringMap;
}

/** Annotations of a group: those that `fields` have words for are taken as those, others are kept. */
export function groupAnnotations<O extends Annotated>(fields: readonly Field<O>[]): Field<O> {
  return annotationsField(fields, {
    help: `Annotations; ${HELP}, vproxy/hc-http-method|url|host|status and vproxy/hc-dns-domain as the check's`,
    meanings: new Map([...HINT_ANNOTATIONS, ...CHECK_ANNOTATIONS]),
    show: ({ annotations }) => annotations,
    keep: (object, annotations) => ({ ...object, annotations }),
  });
}

/** Annotations of an attachment, which has hints only. */
export function hintAnnotations<O>(fields: readonly Field<O>[]): Field<O> {
  return annotationsField(fields, {
    help: `Other words for the hints: ${HELP}`,
    meanings: HINT_ANNOTATIONS,
    show: () => ({}),
    keep: (object, rest, problems) => {
      const known = [...HINT_ANNOTATIONS.keys()].join(", ");
      for (const key of Object.keys(rest)) {
        problems.push(invalid(["annotations", key], rest[key], `one of ${known}`));
      }
      return object;
    },
  });
}

interface Meaning<O> {
  readonly help: string;
  readonly meanings: ReadonlyMap<string, string>;
  readonly show: (object: O) => StringMap;
  readonly keep: (object: O, rest: StringMap, problems: Problem[]) => O;
}

function annotationsField<O>(fields: readonly Field<O>[], meaning: Meaning<O>): Field<O> {
  return {
    specs: [
      {
        kind: "strings",
        name: "annotations",
        field: "annotations",
        help: meaning.help,
        standard: "none",
      },
    ],
    // What is typed by its own parameter wins over what an annotation says.
    isReadFirst: true,
    show: meaning.show,
    read: (object, params, problems) => {
      const inputs = new Map<string, ParamInput>();
      const others: [string, string][] = [];
      for (const [key, value] of Object.entries(params.strings("annotations") ?? {})) {
        const name = meaning.meanings.get(key);
        if (key === "__proto__") problems.push(invalid(["annotations"], key, "another key"));
        else if (name === undefined) others.push([key, value]);
        else inputs.set(name, name === "hint-path" && value === ANY_URI ? "/" : value);
      }
      const kept = meaning.keep(object, Object.fromEntries(others), problems);
      return readMeant(fields, kept, inputs, problems);
    },
  };
}

/** Takes the values as if their parameters had been typed; those that were typed come after and win. */
function readMeant<O>(
  fields: readonly Field<O>[],
  object: O,
  inputs: ReadonlyMap<string, ParamInput>,
  problems: Problem[],
): O {
  const valid = new Map<string, ParamInput>();
  const specs = addParams(fields);
  for (const spec of specs) {
    const input = inputs.get(spec.name);
    if (input === undefined) continue;
    if (readValue(spec, input) !== undefined) valid.set(spec.name, input);
    else problems.push(invalid(["annotations", spec.name], input, spec.help));
  }
  const params = new ParamReader(valid, specs);
  return fields.reduce(
    (result, field) =>
      valid.has(field.specs[0].name) ? field.read(result, params, problems) : result,
    object,
  );
}
