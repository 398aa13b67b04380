import { canonicalIp, parseHostPort } from "../../core/model/address.ts";
import type { StringMap } from "../../core/model/common.ts";
import type { ListenAddress } from "../../core/options/listen-address.ts";
import type { ParamInput } from "../command.ts";
import type { ParamSpec } from "../resource-spec.ts";

/** A parameter once it is read: what it is follows from the kind of its `ParamSpec`. */
export type ParamValue = string | number | boolean | readonly string[] | StringMap | ParamAddress;

/** Where something listens or is called; the host is an IP address or a name. */
export type ParamAddress = ListenAddress;

type SpecOf<K extends ParamSpec["kind"]> = Extract<ParamSpec, { readonly kind: K }>;

const ANY_PORT = 0;
const SOCKET_PREFIXES = ["unix:", "sock:"] as const;
const CONTROL_CHARACTER = /\p{Cc}/u;
const NAME = /^[^\s/,]{1,253}(?:\/[^\s/,]{1,253})?$/;

/** Reads a value as text or JSON has it; undefined: not valid. */
export function readValue(spec: ParamSpec, input: ParamInput): ParamValue | undefined {
  switch (spec.kind) {
    case "text":
      return readText(spec, input);
    case "integer":
      return readInteger(spec, input);
    case "enum":
      return readEnum(spec, input);
    case "address":
      return typeof input === "string" ? parseAddress(spec, input) : undefined;
    case "list":
      return readList(spec, input);
    case "reference":
      return readReference(spec, input);
    case "strings":
      return readStrings(input);
    case "flag":
      return readFlag(input);
  }
}

/** What would be right, for an error and for the manual. */
export function expectedOf(spec: ParamSpec): string {
  switch (spec.kind) {
    case "text":
      return `a text without control characters (${spec.placeholder})`;
    case "integer":
      return `a whole number from ${spec.min} to ${spec.max}`;
    case "enum":
      return `one of ${spec.values.join(", ")}`;
    case "address":
      return spec.unix === true
        ? "HOST:PORT, [IPV6]:PORT or unix:PATH"
        : "HOST:PORT or [IPV6]:PORT";
    case "list":
      return spec.references === undefined
        ? `${spec.placeholder}, or several with commas between`
        : `the name of ${withArticle(spec.references)}, or several with commas between`;
    case "reference":
      return `the name of ${withArticle(spec.to)}`;
    case "strings":
      return 'a JSON object of texts, such as {"key":"value"}';
    case "flag":
      return "the word alone; true or false in JSON";
  }
}

/** `a tcp-lb`, `an upstream`. */
export function withArticle(word: string): string {
  return `${/^[aeiou]/.test(word) ? "an" : "a"} ${word}`;
}

/** An empty text takes away what was there, so it is for parameters that may be absent. */
function readText(spec: SpecOf<"text">, input: ParamInput): string | undefined {
  const text = typeof input === "number" ? String(input) : input;
  if (typeof text !== "string" || CONTROL_CHARACTER.test(text)) return undefined;
  return text === "" && spec.required === true ? undefined : text;
}

function readInteger(spec: SpecOf<"integer">, input: ParamInput): number | undefined {
  const number = typeof input === "string" && /^-?\d{1,15}$/.test(input) ? Number(input) : input;
  if (typeof number !== "number" || !Number.isInteger(number)) return undefined;
  return number >= spec.min && number <= spec.max ? number : undefined;
}

function readEnum(spec: SpecOf<"enum">, input: ParamInput): string | undefined {
  if (typeof input !== "string") return undefined;
  const word = input.toLowerCase();
  const value = spec.values.find((candidate) => candidate.toLowerCase() === word);
  if (value !== undefined) return value;
  return Object.entries(spec.aliases ?? {}).find(([alias]) => alias.toLowerCase() === word)?.[1];
}

/** Reads `HOST:PORT`, `[IPV6]:PORT`, and where the spec has them `unix:PATH` and `sock:PATH`. */
function parseAddress(spec: SpecOf<"address">, text: string): ParamAddress | undefined {
  if (CONTROL_CHARACTER.test(text)) return undefined;
  const prefix = SOCKET_PREFIXES.find((candidate) => text.startsWith(candidate));
  if (prefix !== undefined) {
    const path = text.slice(prefix.length);
    return path === "" || spec.unix !== true ? undefined : { kind: "unix", path };
  }
  const free = spec.anyPort === true ? /^(.+):0$/.exec(text)?.[1] : undefined;
  const address = parseHostPort(free === undefined ? text : `${free}:1`);
  if (address === undefined) return undefined;
  const host = canonicalIp(address.host) ?? address.host;
  return { kind: "tcp", host, port: free === undefined ? address.port : ANY_PORT };
}

/** Entries hold no commas, so that what JSON gives can be typed as well. */
function readList(spec: SpecOf<"list">, input: ParamInput): readonly string[] | undefined {
  const entries = entriesOf(input);
  if (entries === undefined || (entries.length === 0 && spec.required === true)) return undefined;
  const isEntry = (text: string): boolean =>
    spec.references === undefined
      ? text !== "" && text.trim() === text && !text.includes(",") && !CONTROL_CHARACTER.test(text)
      : NAME.test(text);
  return entries.every(isEntry) ? entries : undefined;
}

function entriesOf(input: ParamInput): readonly string[] | undefined {
  if (typeof input === "number") return [String(input)];
  if (typeof input === "string") {
    return input === "" ? [] : input.split(",").map((text) => text.trim());
  }
  return isList(input) && input.every((entry) => typeof entry === "string") ? input : undefined;
}

function readReference(spec: SpecOf<"reference">, input: ParamInput): string | undefined {
  if (typeof input !== "string") return undefined;
  if (input === "") return spec.required === true ? undefined : "";
  return NAME.test(input) ? input : undefined;
}

function readStrings(input: ParamInput): StringMap | undefined {
  const value: unknown = typeof input === "string" ? parseJson(input) : input;
  return isStringMap(value) ? value : undefined;
}

/** Undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export function isStringMap(value: unknown): value is StringMap {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  return Object.values(value).every((entry) => typeof entry === "string");
}

function readFlag(input: ParamInput): boolean | undefined {
  if (input === "true") return true;
  if (input === "false") return false;
  return typeof input === "boolean" ? input : undefined;
}

/** `Array.isArray` does not tell a readonly list from the other inputs. */
export function isList(input: ParamInput): input is readonly string[] {
  return Array.isArray(input);
}
