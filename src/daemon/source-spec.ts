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
  /** `context` is undefined where the options decide. */
  | { readonly kind: "kube"; readonly owner: string; readonly context: string | undefined }
  | { readonly kind: "given"; readonly owner: string; readonly objects: readonly ModelObject[] };

const DEFAULT_API_PORT = 12090;
const FORMS = "file:PATH, kube, kube:CONTEXT, api:HOST:PORT or api:unix:PATH";

const WORDS: readonly string[] = ["file", "kube", "api"];
/** The word that needs nothing after it. */
const BARE_WORD = "kube";

/** Words that mean a source which this version does not have. */
const NOT_AVAILABLE: readonly string[] = ["etcd"];

/**
 * Reads a source: `file:PATH`, `kube`, `kube:CONTEXT`, `api:HOST:PORT`, `api:unix:PATH` or `api` (the
 * default port on loopback).
 * @param where what an error calls the place that it stands in
 * @throws CoreError ERR_CONFIG_INVALID, or ERR_NOT_POSSIBLE_HERE for a source that this version does not have
 */
export function parseSourceSpec(text: string, where = "--from"): SourceSpec {
  const colon = text.indexOf(":");
  const word = colon < 0 ? text : text.slice(0, colon);
  const spec = readSpec(word, colon < 0 ? undefined : text.slice(colon + 1));
  if (spec !== undefined) return spec;
  if (NOT_AVAILABLE.includes(word)) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `${where}: "${text}": the source "${word}" is not available in this version; available: ${FORMS}`,
    );
  }
  const near = nearest(word, [...WORDS, ...NOT_AVAILABLE]);
  const shown = near === BARE_WORD ? near : `${near}:`;
  const hint = near === undefined || near === word ? "" : ` (did you mean "${shown}"?)`;
  throw new CoreError(
    "ERR_CONFIG_INVALID",
    `${where}: "${text}" is not a source${hint}; expected ${FORMS}`,
  );
}

/** @param rest what stands after the colon; undefined where there is none */
function readSpec(word: string, rest: string | undefined): SourceSpec | undefined {
  switch (word) {
    case "file":
      return (rest ?? "") === "" ? undefined : fileSpec(rest ?? "");
    case "kube":
      if (rest === "") return undefined;
      return { kind: "kube", owner: rest === undefined ? word : `kube:${rest}`, context: rest };
    case "api":
      return apiSpec(rest ?? "");
    default:
      return undefined;
  }
}

function fileSpec(path: string): SourceSpec {
  return { kind: "file", owner: `file:${path}`, path };
}

function apiSpec(rest: string): SourceSpec | undefined {
  const address = parseListenAddress(rest === "" ? String(DEFAULT_API_PORT) : rest);
  return address && { kind: "api", owner: `api:${formatListenAddress(address)}`, address };
}
