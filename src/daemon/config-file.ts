import { readFile } from "node:fs/promises";
import { CoreError, messageOf } from "../core/errors.ts";
import {
  invalid,
  type PathPart,
  type Problem,
  problemsError,
  unknownKey,
} from "../core/model/problems.ts";

/** A config file as it is written, before its options are read. */
export interface ConfigFile {
  /** By their flag's name without dashes. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Undefined in the place of one that is no text. */
  readonly sources: readonly (string | undefined)[];
  readonly backends: readonly BackendEntry[];
}

/** What can be read of a config file, and all that is wrong with the rest. */
export interface CheckedConfigFile {
  readonly file: ConfigFile;
  readonly problems: readonly Problem[];
  readonly locate: Locate;
}

/** Where what is at a path stands, for people: `portolan.yaml:3`. */
export type Locate = (path: readonly PathPart[]) => string;

export interface BackendEntry {
  readonly to: string;
  /** Its own options; they win over those of the whole file. */
  readonly options: Readonly<Record<string, unknown>>;
  /** Where it stands. */
  readonly at: readonly PathPart[];
}

export const EMPTY_CONFIG_FILE: ConfigFile = { options: {}, sources: [], backends: [] };

const VERSION = 1;
const KEYS: readonly string[] = ["version", "options", "sources", "backends"];

/** @throws CoreError ERR_CONFIG_INVALID with the file's name, where it can not be read at all */
export async function readConfigFile(
  path: string,
  knownOptions: readonly string[],
): Promise<CheckedConfigFile> {
  const fail = (cause: unknown): CoreError => {
    const reason = messageOf(cause);
    return new CoreError("ERR_CONFIG_INVALID", `${path}: ${reason}`, { cause });
  };
  const { load } = await import("js-yaml");
  const { locateInYaml } = await import("../sources/file/locate-in-yaml.ts");
  let text: string;
  let raw: unknown;
  try {
    text = await readFile(path, "utf8");
    raw = load(text);
  } catch (error) {
    throw fail(error);
  }
  const lineOf = (at: readonly PathPart[]): number =>
    text.slice(0, locateInYaml(text, at)).split("\n").length;
  return checkConfigFile(raw, knownOptions, (at) => `${path}:${lineOf(at)}`);
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
  const { file, problems } = checkConfigFile(raw, knownOptions, () => path);
  if (problems.length > 0) throw problemsError("ERR_CONFIG_INVALID", problems);
  return file;
}

/** The same for one who has more to check before it is refused. */
function checkConfigFile(
  raw: unknown,
  knownOptions: readonly string[],
  locate: Locate,
): CheckedConfigFile {
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
  return {
    file: parsed,
    problems: problems.map((problem) => ({ ...problem, location: locate(problem.path) })),
    locate,
  };
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

function parseSources(raw: unknown, problems: Problem[]): ConfigFile["sources"] {
  return listOf(raw, "sources", problems).map((entry, index) => {
    if (typeof entry === "string") return entry;
    problems.push(invalid(["sources", index], entry, "a source such as file:state.yaml"));
    return undefined;
  });
}

function parseBackends(
  raw: unknown,
  known: readonly string[],
  problems: Problem[],
): readonly BackendEntry[] {
  const backends: BackendEntry[] = [];
  for (const [index, entry] of listOf(raw, "backends", problems).entries()) {
    const at = ["backends", index];
    if (typeof entry === "string") {
      backends.push({ to: entry, options: {}, at });
      continue;
    }
    const { to, ...options } = isRecord(entry) ? entry : {};
    if (typeof to !== "string") {
      problems.push(invalid(at, entry, "a backend such as print, or an object with to: print"));
      continue;
    }
    for (const key of Object.keys(options)) {
      if (!known.includes(key)) problems.push(unknownKey([...at, key], known));
    }
    backends.push({ to, options, at });
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
