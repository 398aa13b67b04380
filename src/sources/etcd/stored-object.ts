import * as z from "zod";
import { describe, KINDS, type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import { checkObject } from "../../core/model/parse.ts";
import { formatProblem } from "../../core/model/problems.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";

/** An object in etcd, and who wrote it there. */
export interface StoredObject {
  readonly owner: string;
  readonly object: ModelObject;
}

/** What a key of etcd holds. */
export type StoredValue =
  | ({ readonly ok: true } & StoredObject)
  /** What is wrong with it, for people. */
  | { readonly ok: false; readonly problem: string };

/** Who wrote it, where nobody says so: what `apply` makes belongs to `control`. */
const DEFAULT_OWNER = "control";

/** Where things are below a prefix; the version is that of what the values hold. */
const VERSION = "v1/";
const OBJECTS = `${VERSION}objects/`;
const WRITES = `${VERSION}writes`;

const envelope = z.strictObject({
  owner: z.string().min(1).max(253).default(DEFAULT_OWNER),
  object: z.unknown(),
});

/** `/portolan` means `/portolan/`. */
export function normalizePrefix(prefix: string): string {
  return prefix.endsWith("/") ? prefix : `${prefix}/`;
}

/** What the keys of all objects begin with. */
export function objectsPrefix(prefix: string): string {
  return `${prefix}${OBJECTS}`;
}

/** What the keys of all objects, and of what belongs to them, begin with. */
export function versionPrefix(prefix: string): string {
  return `${prefix}${VERSION}`;
}

/** The key that each writer changes whose change must not meet that of another. */
export function writesKey(prefix: string): string {
  return `${prefix}${WRITES}`;
}

/** `/portolan/v1/objects/Service/default/web`. */
export function storedKey(prefix: string, kind: Kind, key: string): string {
  return `${objectsPrefix(prefix)}${kind}/${key}`;
}

export function encodeStored({ owner, object }: StoredObject): Buffer {
  return Buffer.from(JSON.stringify({ owner, object }));
}

/** Reads what others wrote: nothing about it is taken for granted. */
export function readStored(
  prefix: string,
  { key, value }: Pick<KeyValue, "key" | "value">,
  maxBytes: number,
): StoredValue {
  const name = parseName(key.slice(objectsPrefix(prefix).length));
  if (name === undefined) {
    return bad(
      `${key}: no name of an object; expected ${objectsPrefix(prefix)}KIND/NAMESPACE/NAME`,
    );
  }
  const what = describe(name.kind, name.key);
  if (value.length > maxBytes) {
    return bad(`${what}: ${value.length} bytes; expected at most ${maxBytes}`);
  }
  const parsed = envelope.safeParse(parseJson(value));
  if (!parsed.success) {
    return bad(`${what}: the value is not understood; expected {"owner":"NAME","object":{...}}`);
  }
  const checked = checkObject(parsed.data.object, ["object"]);
  if (!checked.ok) return bad(`${what}: ${checked.problems.map(formatProblem).join("; ")}`);
  const object = checked.value;
  const own = describe(object.kind, keyOf(object));
  if (own !== what)
    return bad(`${what}: the value is ${own}; expected the object that its key names`);
  return { ok: true, owner: parsed.data.owner, object };
}

function parseName(rest: string): { readonly kind: Kind; readonly key: string } | undefined {
  const slash = rest.indexOf("/");
  const kind = KINDS.find((known) => known === rest.slice(0, slash));
  return kind && { kind, key: rest.slice(slash + 1) };
}

function parseJson(value: Buffer): unknown {
  try {
    return JSON.parse(value.toString("utf8"));
  } catch {
    return undefined;
  }
}

function bad(problem: string): StoredValue {
  return { ok: false, problem };
}
