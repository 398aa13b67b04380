import { deepEqual } from "../../core/model/equal.ts";
import type { Kind, ModelObject } from "../../core/model/object.ts";
import { checkObject } from "../../core/model/parse.ts";

/** What each kind can not be without; the other fields have defaults. */
const NEEDED: Readonly<Record<Kind, Readonly<Record<string, unknown>>>> = {
  Service: {},
  Listener: { address: "127.0.0.1", port: 1, service: "default/any" },
  Group: {},
  Endpoint: { group: "any", addresses: ["127.0.0.1"] },
  Node: {},
  SecurityGroup: { defaultAccess: "deny" },
  Certificate: { certFiles: ["any"], keyFile: "any" },
};

/** People want to see these, whatever they are. */
const ALWAYS_SHOWN: readonly string[] = ["kind", "namespace", "name"];

type Fields = Readonly<Record<string, unknown>>;

const defaults = new Map<Kind, Fields>();

/** The object without fields that say no more than their default; read again, it is the same object. */
export function withoutDefaults(object: ModelObject): Fields {
  const { kind } = object;
  const standard = defaultsOf(kind);
  const kept = Object.entries(object).filter(
    ([field, value]) =>
      value !== undefined && !(Object.hasOwn(standard, field) && deepEqual(standard[field], value)),
  );
  const short = Object.fromEntries(kept);
  const again = checkObject(short);
  // A default that depends on another field is no default for all.
  return again.ok && deepEqual(again.value, object) ? short : definedFields(object);
}

function defaultsOf(kind: Kind): Fields {
  const known = defaults.get(kind);
  if (known !== undefined) return known;
  const checked = checkObject({ kind, name: "any", ...NEEDED[kind] });
  const shown = new Set([...ALWAYS_SHOWN, ...Object.keys(NEEDED[kind])]);
  const fields = checked.ok
    ? Object.fromEntries(Object.entries(checked.value).filter(([field]) => !shown.has(field)))
    : {};
  defaults.set(kind, fields);
  return fields;
}

function definedFields(object: ModelObject): Fields {
  return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined));
}
