import { readFile } from "node:fs/promises";
import { load } from "js-yaml";
import { CoreError, messageOf } from "../../core/errors.ts";
import { invalid, type Problem, problemsError, unknownKey } from "../../core/model/problems.ts";
import { isRaw, type Raw } from "../../core/model/raw-reader.ts";
import { flagName } from "../../core/options/option-spec.ts";
import { parseGoDurationMs } from "./go-duration.ts";
import { MODE, SETTINGS, type Setting, type SettingKind } from "./settings.ts";

/** A number of milliseconds is what a duration becomes. */
export type SettingValue = string | number | boolean | readonly string[] | Raw;

/** By the name in code. */
export type SettingValues = ReadonlyMap<string, SettingValue>;

const API = "kubeproxy.config.k8s.io/v1alpha1";
const KIND = "KubeProxyConfiguration";

/**
 * The settings that flags and the configuration file say; a flag wins.
 * @throws CoreError ERR_USAGE or ERR_CONFIG_INVALID with all that is wrong
 */
export async function readSettings(
  flags: Readonly<Record<string, unknown>>,
): Promise<SettingValues> {
  const given = readFlags(flags);
  const file = given.get("config");
  if (typeof file !== "string" || file === "") return given;
  const mode = given.get("proxyMode");
  return new Map([...(await readConfig(file, mode)), ...given]);
}

function readFlags(flags: Readonly<Record<string, unknown>>): Map<string, SettingValue> {
  const values = new Map<string, SettingValue>();
  const problems: Problem[] = [];
  for (const setting of SETTINGS) {
    const raw = flags[setting.name];
    if (raw === undefined || setting.hasNoFlag === true) continue;
    const value = readValue(setting.kind, raw);
    if (value !== undefined) values.set(setting.name, value);
    else problems.push(invalid([`--${flagName(setting.name)}`], raw, EXPECTED[setting.kind]));
  }
  if (problems.length > 0) throw problemsError("ERR_USAGE", problems);
  return values;
}

async function readConfig(
  file: string,
  modeFlag: SettingValue | undefined,
): Promise<Map<string, SettingValue>> {
  const raw = await loadFile(file);
  const problems: Problem[] = [];
  if (raw["apiVersion"] !== API) problems.push(invalid(["apiVersion"], raw["apiVersion"], API));
  if (raw["kind"] !== KIND) problems.push(invalid(["kind"], raw["kind"], KIND));
  const section = (modeFlag ?? raw["mode"]) === "nftables" ? "nftables" : "iptables";
  const values = new Map<string, SettingValue>();
  for (const setting of SETTINGS) {
    if (setting.path === undefined) continue;
    const path = setting.path.map((part) => (part === MODE ? section : part));
    const found = valueAt(raw, path);
    if (found === undefined || found === null) continue;
    const value = readValue(setting.kind, found);
    if (value !== undefined) values.set(setting.name, value);
    else problems.push(invalid(path, found, EXPECTED[setting.kind]));
  }
  problems.push(...unknownKeys(raw));
  if (problems.length > 0) {
    const located = problems.map((problem) => ({ ...problem, location: file }));
    throw problemsError("ERR_CONFIG_INVALID", located);
  }
  return values;
}

async function loadFile(file: string): Promise<Raw> {
  try {
    const raw: unknown = load(await readFile(file, "utf8"));
    if (isRaw(raw)) return raw;
  } catch (cause) {
    const reason = messageOf(cause);
    throw new CoreError("ERR_CONFIG_INVALID", `${file}: ${reason}`, { cause });
  }
  throw new CoreError("ERR_CONFIG_INVALID", `${file}: expected a ${KIND}`);
}

/** Keys that kube-proxy would refuse as well. */
function unknownKeys(raw: Raw): readonly Problem[] {
  const paths = SETTINGS.flatMap(pathsOf);
  const tops = [...new Set(["apiVersion", "kind", ...paths.map(([first = ""]) => first)])];
  return Object.entries(raw).flatMap(([key, value]) => {
    if (!tops.includes(key)) return [unknownKey([key], tops)];
    const inner = paths.flatMap(([first, second]) => (first === key && second ? [second] : []));
    if (inner.length === 0 || !isRaw(value)) return [];
    const unknown = Object.keys(value).filter((one) => !inner.includes(one));
    return unknown.map((one) => unknownKey([key, one], inner));
  });
}

function pathsOf({ path }: Setting): readonly (readonly string[])[] {
  if (path === undefined) return [];
  if (path[0] !== MODE) return [path];
  return ["iptables", "nftables"].map((section) => [section, ...path.slice(1)]);
}

function valueAt(raw: Raw, path: readonly string[]): unknown {
  let value: unknown = raw;
  for (const part of path) value = isRaw(value) ? value[part] : undefined;
  return value;
}

const EXPECTED: Readonly<Record<SettingKind, string>> = {
  text: "a text",
  whole: "a whole number",
  truth: "true or false",
  duration: "a duration such as 30s or 1h0m0s",
  texts: "texts, separated by commas",
  any: "something",
};

function readValue(kind: SettingKind, raw: unknown): SettingValue | undefined {
  switch (kind) {
    case "text":
      return typeof raw === "string" ? raw : undefined;
    case "whole":
      return Number.isInteger(Number(raw)) && raw !== "" ? Number(raw) : undefined;
    case "truth":
      if (typeof raw === "boolean") return raw;
      return raw === "true" || raw === "false" ? raw === "true" : undefined;
    case "duration":
      return typeof raw === "string" ? parseGoDurationMs(raw) : undefined;
    case "texts":
      return readTexts(raw);
    case "any":
      return isRaw(raw) ? raw : String(raw);
  }
}

function readTexts(raw: unknown): readonly string[] | undefined {
  const items: unknown = typeof raw === "string" ? raw.split(",") : raw;
  if (!Array.isArray(items)) return undefined;
  const texts = items.filter((item): item is string => typeof item === "string");
  return texts.length === items.length ? texts.map((text) => text.trim()) : undefined;
}
