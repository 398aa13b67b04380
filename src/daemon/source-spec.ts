import { CoreError } from "../core/errors.ts";
import type { ModelObject } from "../core/model/object.ts";
import { nearest } from "../core/model/problems.ts";
import {
  formatListenAddress,
  type ListenAddress,
  parseListenAddress,
} from "../core/options/listen-address.ts";

/**
 * A word of `--from`, read, or what a preset gives in place of it. `owner` is how the store and people
 * call the source.
 */
export type SourceSpec =
  | { readonly kind: "file"; readonly owner: string; readonly path: string }
  | { readonly kind: "api"; readonly owner: string; readonly address: ListenAddress }
  | { readonly kind: "given"; readonly owner: string; readonly objects: readonly ModelObject[] };

const DEFAULT_API_PORT = 12090;
const FORMS = "file:PATH, api:HOST:PORT or api:unix:PATH";

/** Words that mean a source which this version does not have. */
const NOT_AVAILABLE: readonly string[] = ["kube", "etcd"];

/**
 * Reads a source: `file:PATH`, `api:HOST:PORT`, `api:unix:PATH` or `api` (the default port on loopback).
 * @param where what an error calls the place that it stands in
 * @throws CoreError ERR_CONFIG_INVALID, or ERR_NOT_POSSIBLE_HERE for a source that this version does not have
 */
export function parseSourceSpec(text: string, where = "--from"): SourceSpec {
  const colon = text.indexOf(":");
  const word = colon < 0 ? text : text.slice(0, colon);
  const rest = colon < 0 ? "" : text.slice(colon + 1);
  if (word === "file" && rest !== "") return { kind: "file", owner: text, path: rest };
  if (word === "api") {
    const address = parseListenAddress(rest === "" ? String(DEFAULT_API_PORT) : rest);
    if (address !== undefined) {
      return { kind: "api", owner: `api:${formatListenAddress(address)}`, address };
    }
  }
  if (NOT_AVAILABLE.includes(word)) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `${where}: "${text}": the source "${word}" is not available in this version; available: ${FORMS}`,
    );
  }
  const near = nearest(word, ["file", "api", ...NOT_AVAILABLE]);
  const hint = near === undefined || near === word ? "" : ` (did you mean "${near}:"?)`;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `${where}: "${text}" is not a source${hint}; expected ${FORMS}`,
  );
}
