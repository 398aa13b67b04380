import { readFile } from "node:fs/promises";
import { load } from "js-yaml";
import { CoreError } from "../core/errors.ts";
import { invalid, type Problem, problemsError, unknownKey } from "../core/model/problems.ts";

/** A config file as it is written, before its options are read. */
export interface ConfigFile {
  /** By their flag's name without dashes. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly sources: readonly string[];
  readonly backends: readonly BackendEntry[];
}

export interface BackendEntry {
  readonly to: string;
  /** Its own options; they win over those of the whole file. */
  readonly options: Readonly<Record<string, unknown>>;
  /** What an error calls the place that it stands in. */
  readonly place: string;
}

export const EMPTY_CONFIG_FILE: ConfigFile = { options: {}, sources: [], backends: [] };

const VERSION = 1;
const KEYS: readonly string[] = ["version", "options", "sources", "backends"];

/** @throws CoreError ERR_CONFIG_INVALID with the file's name */
export async function readConfigFile(
  path: string,
  knownOptions: readonly string[],
): Promise<ConfigFile> {
  const fail = (cause: unknown): CoreError => {
    const reason = cause instanceof Error ? cause.message : String(cause);
    return new CoreError("ERR_CONFIG_INVALID", `${path}: ${reason}`, { cause });
  };
  let raw: unknown;
  try {
    raw = load(await readFile(path, "utf8"));
  } catch (error) {
    throw fail(error);
  }
  return parseConfigFile(raw, knownOptions, path);
}

/**
 * Reads a config file that was parsed as YAML or JSON.
 * @throws CoreError ERR_CONFIG_INVALID with all problems
 */
export function parseConfigFile(
  raw: unknown,
  knownOptions: readonly string[],
  path: string,
): ConfigFile {
  const problems: Problem[] = [];
  const file = isRecord(raw) ? raw : {};
  if (!isRecord(raw)) problems.push(invalid([], raw ?? null, "an object with version: 1"));
  for (const key of Object.keys(file)) {
    if (!KEYS.includes(key)) problems.push(unknownKey([key], KEYS));
  }
  if (isRecord(raw) && file["version"] !== VERSION) {
    problems.push(invalid(["version"], file["version"], String(VERSION)));
  }
  const parsed: ConfigFile = {
    options: parseOptions(file["options"], knownOptions, problems),
    sources: parseSources(file["sources"], problems),
    backends: parseBackends(file["backends"], knownOptions, problems),
  };
  if (problems.length === 0) return parsed;
  throw problemsError(
    "ERR_CONFIG_INVALID",
    problems.map((problem) => ({ ...problem, location: path })),
  );
}

function parseOptions(
  raw: unknown,
  known: readonly string[],
  problems: Problem[],
): ConfigFile["options"] {
  if (raw === undefined || raw === null) return {};
  if (!isRecord(raw)) {
    problems.push(invalid(["options"], raw, "an object of options"));
    return {};
  }
  for (const key of Object.keys(raw)) {
    if (!known.includes(key)) problems.push(unknownKey(["options", key], known));
  }
  return raw;
}

function parseSources(raw: unknown, problems: Problem[]): readonly string[] {
  const sources: string[] = [];
  for (const [index, entry] of listOf(raw, "sources", problems).entries()) {
    if (typeof entry === "string") sources.push(entry);
    else problems.push(invalid(["sources", index], entry, "a source such as file:state.yaml"));
  }
  return sources;
}

function parseBackends(
  raw: unknown,
  known: readonly string[],
  problems: Problem[],
): readonly BackendEntry[] {
  const backends: BackendEntry[] = [];
  for (const [index, entry] of listOf(raw, "backends", problems).entries()) {
    const place = `backends[${index}]`;
    if (typeof entry === "string") {
      backends.push({ to: entry, options: {}, place });
      continue;
    }
    const { to, ...options } = isRecord(entry) ? entry : {};
    if (typeof to !== "string") {
      problems.push(
        invalid(["backends", index], entry, "a backend such as print, or an object with to: print"),
      );
      continue;
    }
    for (const key of Object.keys(options)) {
      if (!known.includes(key)) problems.push(unknownKey(["backends", index, key], known));
    }
    backends.push({ to, options, place });
  }
  return backends;
}

function listOf(raw: unknown, key: string, problems: Problem[]): readonly unknown[] {
  if (raw === undefined || raw === null) return [];
  if (Array.isArray(raw)) return raw;
  problems.push(invalid([key], raw, "a list"));
  return [];
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
