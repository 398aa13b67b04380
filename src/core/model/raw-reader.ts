import { canonicalIp, isPort } from "./address.ts";
import { EMPTY, NO_STRINGS, type StringMap } from "./common.ts";
import { invalid, type PathPart, type Problem } from "./problems.ts";

/** An object of unknown content, such as JSON holds. */
export type Raw = Readonly<Record<string, unknown>>;

export function isRaw(value: unknown): value is Raw {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

const NOTHING: Raw = Object.freeze({});

/**
 * Reads fields of raw objects with checks, quickly: for bulk input, where a schema library would take
 * most of the time. It knows where it is (`enter`, `leave`), so that what is wrong is noted with its
 * path and reading goes on; whoever reads throws the result away when `problems` is not empty.
 * Missing and null are the same, as in Kubernetes.
 */
export class RawReader {
  readonly problems: Problem[] = [];
  readonly #path: PathPart[];
  readonly #strings = new Map<string, string>();

  constructor(base: readonly PathPart[] = []) {
    this.#path = [...base];
  }

  get path(): readonly PathPart[] {
    return [...this.#path];
  }

  enter(part: PathPart): void {
    this.#path.push(part);
  }

  leave(): void {
    this.#path.pop();
  }

  fail(key: PathPart, value: unknown, expected: string): void {
    this.problems.push(invalid([...this.#path, key], value ?? undefined, expected));
  }

  /** The same string object for equal strings: names that come back a thousand times are kept once. */
  intern(text: string): string {
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    this.#strings.set(text, text);
    return text;
  }

  string(raw: Raw, key: string, fallback = ""): string {
    const value = raw[key] ?? fallback;
    if (typeof value === "string") return value;
    this.fail(key, value, "a text");
    return fallback;
  }

  /** A name: must be there, without spaces and '/'. */
  name(raw: Raw, key: string): string {
    const value = raw[key];
    if (typeof value === "string" && isName(value)) return value;
    this.fail(key, value, "a name of 1 to 253 characters without spaces and '/'");
    return "";
  }

  oneOf<T extends string>(raw: Raw, key: string, words: readonly T[], fallback: T): T {
    const value = raw[key];
    if (value === undefined || value === null) return fallback;
    const word = words.find((known) => known === value);
    if (word !== undefined) return word;
    this.fail(key, value, `one of ${words.join(", ")}`);
    return fallback;
  }

  boolean(raw: Raw, key: string, fallback: boolean): boolean {
    const value = raw[key] ?? fallback;
    if (typeof value === "boolean") return value;
    this.fail(key, value, "true or false");
    return fallback;
  }

  /** A port that must be there; 0 where it is wrong. */
  port(raw: Raw, key: string): number {
    const value = raw[key];
    if (isPort(value)) return value;
    this.fail(key, value, "a whole number from 1 to 65535");
    return 0;
  }

  /** A port, or 0 where there is none. */
  optionalPort(raw: Raw, key: string): number {
    const value = raw[key] ?? 0;
    if (value === 0 || isPort(value)) return value;
    this.fail(key, value, "a whole number from 1 to 65535, or 0 for none");
    return 0;
  }

  /** An address in its one spelling, at `key` of whatever is being read. */
  ip(key: PathPart, value: unknown): string | undefined {
    const ip = typeof value === "string" ? canonicalIp(value) : undefined;
    if (ip === undefined) this.fail(key, value, "an IPv4 or IPv6 address");
    return ip;
  }

  ips(raw: Raw, key: string): readonly string[] {
    const values = this.list(raw, key);
    if (values.length === 0) return EMPTY;
    this.enter(key);
    const ips = values.flatMap((value, index) => this.ip(index, value) ?? []);
    this.leave();
    return ips;
  }

  /** The object at `key`; an empty one where there is none. */
  object(raw: Raw, key: string): Raw {
    const value = raw[key] ?? NOTHING;
    if (isRaw(value)) return value;
    this.fail(key, value, "an object");
    return NOTHING;
  }

  list(raw: Raw, key: string): readonly unknown[] {
    const value = raw[key] ?? EMPTY;
    if (Array.isArray(value)) return value;
    this.fail(key, value, "a list");
    return EMPTY;
  }

  /** Calls `read` for each object in the list at `key`, while the path leads there. */
  each(raw: Raw, key: string, read: (item: Raw, index: number) => void): void {
    const items = this.list(raw, key);
    if (items.length === 0) return;
    this.enter(key);
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      if (!isRaw(item)) {
        this.fail(index, item, "an object");
        continue;
      }
      this.enter(index);
      read(item, index);
      this.leave();
    }
    this.leave();
  }

  /** Labels or annotations. */
  stringMap(raw: Raw, key: string): StringMap {
    const map = this.object(raw, key);
    let size = 0;
    for (const name in map) {
      size++;
      const value = map[name];
      if (typeof value === "string" && name !== "__proto__") continue;
      this.enter(key);
      if (name === "__proto__") this.fail(name, name, "another key");
      else this.fail(name, value, "a text");
      this.leave();
    }
    return size === 0 || !isStringMap(map) ? NO_STRINGS : map;
  }
}

function isStringMap(map: Raw): map is StringMap {
  for (const name in map) if (typeof map[name] !== "string") return false;
  return true;
}

const MAX_NAME_LENGTH = 253;

function isName(text: string): boolean {
  return text.length > 0 && text.length <= MAX_NAME_LENGTH && !/[\s/]/.test(text);
}
