import { invalid, type Problem } from "../../core/model/problems.ts";
import { ACTIONS } from "../command.ts";
import { RESOURCE_NAMES } from "../resource-names.ts";

const DEFAULT_NAMESPACE = "default";
/** No control characters either: names are printed on terminals. */
const NAME = /^[^\s/,()\p{Cc}][^\s/,\p{Cc}]{0,252}$/u;
/** Names that would read like the grammar. */
const RESERVED: ReadonlySet<string> = new Set(["in", "to", "from", ...ACTIONS, ...RESOURCE_NAMES]);

export interface Place {
  readonly namespace: string;
  readonly name: string;
}

/** `web` is in the namespace `default`; `shop/web` says its own. */
export function placeOf(name: string): Place {
  const slash = name.indexOf("/");
  if (slash < 0) return { namespace: DEFAULT_NAMESPACE, name };
  return { namespace: name.slice(0, slash), name: name.slice(slash + 1) };
}

/** The key of the model that a name means. */
export function keyOfName(name: string): string {
  const place = placeOf(name);
  return `${place.namespace}/${place.name}`;
}

/** The name that a key is shown and typed by. */
export function nameOfKey(key: string): string {
  const prefix = `${DEFAULT_NAMESPACE}/`;
  return key.startsWith(prefix) ? key.slice(prefix.length) : key;
}

/** What is wrong with a name for something new; undefined where it is right. */
export function nameProblem(name: string): Problem | undefined {
  const place = placeOf(name);
  const isRight = NAME.test(place.namespace) && isPlainName(place.name);
  if (isRight) return undefined;
  return invalid(
    ["name"],
    name,
    "a name, or NAMESPACE/NAME, without spaces, commas and brackets in front, that is no word of the grammar",
  );
}

/** The same for what lives in something else, and so has no namespace of its own. */
export function innerNameProblem(name: string): Problem | undefined {
  if (isPlainName(name)) return undefined;
  return invalid(
    ["name"],
    name,
    "a name without spaces, commas, '/' and brackets in front, that is no word of the grammar",
  );
}

function isPlainName(name: string): boolean {
  return NAME.test(name) && !RESERVED.has(name);
}
