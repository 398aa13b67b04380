import { type ListenAddress, parseListenAddress } from "./listen-address.ts";
import type { OptionSpec } from "./option-spec.ts";

export type OptionValue = string | number | boolean | readonly string[] | ListenAddress;

const UNIT_MS: ReadonlyMap<string, number> = new Map([
  ["ms", 1],
  ["s", 1000],
  ["m", 60_000],
  ["h", 3_600_000],
]);

/** In place of an address: nobody listens. */
const OFF = "off";

const TRUTH: ReadonlyMap<unknown, boolean> = new Map<unknown, boolean>([
  [true, true],
  ["true", true],
  ["1", true],
  [false, false],
  ["false", false],
  ["0", false],
]);

/** Reads a value as the command line, the environment or a file has it; undefined: not valid. */
export function parseOption(spec: OptionSpec, raw: unknown): OptionValue | undefined {
  switch (spec.kind) {
    case "string":
      return typeof raw === "string" && raw !== "" ? raw : undefined;
    case "number":
      return parseNumber(raw, spec.min, spec.max);
    case "boolean":
      return TRUTH.get(raw);
    case "list":
      return parseList(raw);
    case "duration":
      return typeof raw === "string" ? parseDurationMs(raw) : undefined;
    case "enum":
      return parseWord(raw, spec.values, spec.aliases);
    case "address":
      if (raw === OFF && spec.canBeOff === true) return raw;
      return typeof raw === "string" || typeof raw === "number"
        ? parseListenAddress(String(raw))
        : undefined;
  }
}

/** What would be right, for an error. */
export function expectedOf(spec: OptionSpec): string {
  switch (spec.kind) {
    case "string":
      return "a text that is not empty";
    case "number":
      return `a whole number from ${spec.min} to ${spec.max}`;
    case "boolean":
      return "true or false";
    case "list":
      return "a list of texts";
    case "duration":
      return "a number with a unit: 250ms, 5s, 2m, 1h";
    case "enum":
      return `one of ${spec.values.join(", ")}`;
    case "address":
      return spec.canBeOff === true
        ? `HOST:PORT, PORT, unix:PATH or ${OFF}`
        : "HOST:PORT, PORT or unix:PATH";
  }
}

export function parseDurationMs(text: string): number | undefined {
  const match = /^(\d{1,9})(ms|s|m|h)$/.exec(text);
  const unitMs = UNIT_MS.get(match?.[2] ?? "");
  return unitMs === undefined ? undefined : Number(match?.[1]) * unitMs;
}

function parseWord(
  raw: unknown,
  values: readonly string[],
  aliases: Readonly<Record<string, string>> = {},
): string | undefined {
  if (typeof raw !== "string") return undefined;
  const word = Object.hasOwn(aliases, raw) ? aliases[raw] : raw;
  return word !== undefined && values.includes(word) ? word : undefined;
}

function parseNumber(raw: unknown, min: number, max: number): number | undefined {
  const number = typeof raw === "string" && /^-?\d{1,15}$/.test(raw) ? Number(raw) : raw;
  if (typeof number !== "number" || !Number.isInteger(number)) return undefined;
  return number >= min && number <= max ? number : undefined;
}

function parseList(raw: unknown): readonly string[] | undefined {
  const items: unknown = typeof raw === "string" ? raw.trim().split(/\s+/) : raw;
  if (!Array.isArray(items)) return undefined;
  return items.every((item) => typeof item === "string" && item !== "") ? items : undefined;
}
