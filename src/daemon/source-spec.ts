import { CoreError } from "../core/errors.ts";
import type { ModelObject } from "../core/model/object.ts";
import { nearest } from "../core/model/problems.ts";
import {
  formatListenAddress,
  type ListenAddress,
  parseListenAddress,
  parseServerAddresses,
} from "../core/options/listen-address.ts";

/**
 * A word of `--from`, read, or what a preset gives in place of it. `owner` is how the store and people
 * call the source.
 */
export type SourceSpec =
  | { readonly kind: "file"; readonly owner: string; readonly path: string }
  | {
      readonly kind: "api";
      readonly owner: string;
      readonly address: ListenAddress;
      /** Without TLS, whatever else this instance shows. */
      readonly isPlain?: true;
    }
  /** `context` is undefined where the options decide. */
  | { readonly kind: "kube"; readonly owner: string; readonly context: string | undefined }
  | { readonly kind: "etcd"; readonly owner: string; readonly members: readonly ListenAddress[] }
  /** What the manager in this very instance keeps. */
  | { readonly kind: "manager"; readonly owner: string }
  | { readonly kind: "given"; readonly owner: string; readonly objects: readonly ModelObject[] };

const DEFAULT_API_PORT = 12090;
const DEFAULT_ETCD_PORT = 2379;
const FORMS =
  "file:PATH, kube, kube:CONTEXT, api:HOST:PORT, api:plain:HOST:PORT, api:unix:PATH or etcd:HOST:PORT[,HOST:PORT]";

const WORDS: readonly string[] = ["file", "kube", "api", "etcd"];
/** Stands before the place of an API that is called without TLS on purpose. */
const PLAIN = "plain:";
/** The word that needs nothing after it. */
const BARE_WORD = "kube";

/**
 * Reads a source: `file:PATH`, `kube`, `kube:CONTEXT`, `api:HOST:PORT`, `api:plain:HOST:PORT`,
 * `api:unix:PATH`, `etcd:HOST:PORT,...`; `api` and `etcd` alone are the default port on loopback.
 * @param where what an error calls the place that it stands in
 * @throws CoreError ERR_CONFIG_INVALID
 */
export function parseSourceSpec(text: string, where = "--from"): SourceSpec {
  const colon = text.indexOf(":");
  const word = colon < 0 ? text : text.slice(0, colon);
  const spec = readSpec(word, colon < 0 ? undefined : text.slice(colon + 1));
  if (spec !== undefined) return spec;
  const near = nearest(word, WORDS);
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
    case "etcd":
      return etcdSpec(rest ?? "");
    default:
      return undefined;
  }
}

function fileSpec(path: string): SourceSpec {
  return { kind: "file", owner: `file:${path}`, path };
}

function apiSpec(rest: string): SourceSpec | undefined {
  const isPlain = rest.startsWith(PLAIN);
  const place = isPlain ? rest.slice(PLAIN.length) : rest;
  const address = parseListenAddress(rest === "" ? String(DEFAULT_API_PORT) : place);
  if (address === undefined) return undefined;
  const owner = `api:${isPlain ? PLAIN : ""}${formatListenAddress(address)}`;
  return { kind: "api", owner, address, ...(isPlain && { isPlain }) };
}

function etcdSpec(rest: string): SourceSpec | undefined {
  const members = parseEtcdMembers(rest);
  const owner = `etcd:${members?.map(formatListenAddress).join(",")}`;
  return members && { kind: "etcd", owner, members };
}

/** `HOST:PORT,HOST:PORT`, or nothing for the default port on loopback; undefined where it is something else. */
export function parseEtcdMembers(text: string): readonly ListenAddress[] | undefined {
  return parseServerAddresses(text === "" ? String(DEFAULT_ETCD_PORT) : text);
}
