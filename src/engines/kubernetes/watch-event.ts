import { CoreError } from "../../core/errors.ts";
import { isRaw, type Raw } from "../../core/model/raw-reader.ts";
import { type Refusal, refusalOf } from "./read-refusal.ts";

/** A line of a watch. */
export type WatchEvent =
  | { readonly type: "set" | "delete"; readonly object: Raw; readonly version: string }
  | { readonly type: "bookmark"; readonly version: string }
  | { readonly type: "error"; readonly refusal: Refusal }
  /** Of a time to come. */
  | { readonly type: "unknown" };

const TYPES: ReadonlyMap<unknown, "set" | "delete" | "bookmark"> = new Map<
  unknown,
  "set" | "delete" | "bookmark"
>([
  ["ADDED", "set"],
  ["MODIFIED", "set"],
  ["DELETED", "delete"],
  ["BOOKMARK", "bookmark"],
]);

/** @throws CoreError ERR_API_PROTOCOL */
export function parseWatchEvent(line: string): WatchEvent {
  const { type: word, object } = parse(line);
  if (word === "ERROR") return { type: "error", refusal: refusalOf(object) };
  const type = TYPES.get(word);
  if (type === undefined) return { type: "unknown" };
  const version = versionOf(object);
  if (!isRaw(object) || version === "") {
    throw new CoreError(
      "ERR_API_PROTOCOL",
      `the Kubernetes API sent a ${String(word)} event without an object that has a resourceVersion`,
    );
  }
  return type === "bookmark" ? { type, version } : { type, object, version };
}

/** The `metadata.resourceVersion` of an object or a list; empty where there is none. */
export function versionOf(raw: unknown): string {
  const metadata = isRaw(raw) ? raw["metadata"] : undefined;
  const version = isRaw(metadata) ? metadata["resourceVersion"] : undefined;
  return typeof version === "string" ? version : "";
}

function parse(line: string): Raw {
  try {
    const raw: unknown = JSON.parse(line);
    if (isRaw(raw)) return raw;
  } catch (cause) {
    throw new CoreError("ERR_API_PROTOCOL", "the Kubernetes API sent a line that is not JSON", {
      cause,
    });
  }
  throw new CoreError("ERR_API_PROTOCOL", "the Kubernetes API sent a line that is not an object");
}
