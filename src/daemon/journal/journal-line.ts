import { setImmediate as pause } from "node:timers/promises";
import * as z from "zod";
import type { DesiredChange, RuntimeChange, RuntimeEntry } from "../../control/world.ts";
import { portSchema } from "../../core/model/common.ts";
import { canonicalJson, hashText, TextHash } from "../../core/model/hash.ts";
import { KINDS, type ModelObject } from "../../core/model/object.ts";
import { checkObject } from "../../core/model/parse.ts";
import { formatProblem, type Problem } from "../../core/model/problems.ts";
import { checkAgainst } from "../../core/model/zod-problems.ts";

const JOURNAL_VERSION = 1;

/** What one command made, or a part of what all of them made so far. */
export interface KeptChange {
  readonly desired: DesiredChange;
  readonly runtime: RuntimeChange;
}

export interface JournalEntry extends KeptChange {
  /** One more than that of the line before. */
  readonly seq: number;
}

/** The first line of a journal. */
export interface JournalHeader {
  readonly version: number;
  /** The number of the first entry. */
  readonly first: number;
}

export type Decoded<T> =
  | { readonly ok: true; readonly value: T }
  /** What is wrong, in words. */
  | { readonly ok: false; readonly fault: string };

export const NO_RUNTIME_CHANGE: RuntimeChange = { add: [], remove: [] };
export const NO_DESIRED_CHANGE: DesiredChange = { set: [], delete: [] };

const FORMAT = "portolan-journal";
const SUM_MARK = ',"sum":"';
const SUM_END = '"}';
const SUM_DIGITS = 16;
const SET_MARK = ',"set":[';
const SET_END = "]";
const OBJECTS_A_PIECE = 300;

/** A line of JSON that ends with the sum of what stands before it. */
export function encodeLine(value: object): string {
  return summed(canonicalJson(value).slice(0, -1));
}

/** @param body an object's JSON without its end */
function summed(body: string): string {
  return `${body}${sumOf(hashText(body))}`;
}

function sumOf(hash: string): string {
  return `${SUM_MARK}${hash}${SUM_END}\n`;
}

export function encodeHeader(first: number): string {
  return encodeLine({ format: FORMAT, version: JOURNAL_VERSION, first });
}

/** Lists that are empty are left out. */
export function encodeEntry(entry: JournalEntry): string {
  return entryLine(entry, entry.desired.set.map(canonicalJson));
}

/**
 * An object as it stands in a journal, read again before anybody relies on it.
 * @param index its place among what is set
 * @returns its canonical JSON, or why it could not be read
 */
export function encodeObject(object: ModelObject, index: number): Decoded<string> {
  const text = canonicalJson(object);
  const checked = checkObject(JSON.parse(text), ["set", index]);
  return checked.ok ? { ok: true, value: text } : faulty(checked.problems);
}

/**
 * As `encodeEntry`, in pieces and with pauses in which others go on.
 * @param textOf gives what `encodeObject` does
 * @returns what makes the line when put together, or why it could not be read
 */
export async function encodeChecked(
  entry: JournalEntry,
  textOf: (object: ModelObject, index: number) => Decoded<string> = encodeObject,
): Promise<Decoded<readonly string[]>> {
  const rest = decodeEntry(entryLine(entry, []).trimEnd());
  if (!rest.ok) return rest;
  const { set } = entry.desired;
  if (set.length === 0) return { ok: true, value: [entryLine(entry, [])] };
  const pieces: string[] = [];
  const hash = new TextHash();
  const add = (piece: string): void => {
    hash.update(piece);
    pieces.push(piece);
  };
  add(`${entryHead(entry)}${SET_MARK}`);
  for (let at = 0; at < set.length; at += OBJECTS_A_PIECE) {
    if (at > 0) await pause();
    const texts: string[] = [];
    for (const [index, object] of set.slice(at, at + OBJECTS_A_PIECE).entries()) {
      const text = textOf(object, at + index);
      if (!text.ok) return text;
      texts.push(text.value);
    }
    add(`${at > 0 ? "," : ""}${texts.join(",")}`);
  }
  add(SET_END);
  pieces.push(sumOf(hash.digest()));
  return { ok: true, value: pieces };
}

/** @param objects what is set, each as canonical JSON */
function entryLine(entry: JournalEntry, objects: readonly string[]): string {
  const head = entryHead(entry);
  return summed(objects.length === 0 ? head : `${head}${SET_MARK}${objects.join(",")}${SET_END}`);
}

/** All but what is set, without its end. */
function entryHead({ seq, desired, runtime }: JournalEntry): string {
  const lists = {
    delete: desired.delete.map(({ kind, key }) => ({ kind, key })),
    add: runtime.add,
    remove: runtime.remove.map(({ kind, name }) => ({ kind, name })),
  };
  const filled = Object.entries(lists).filter(([, list]) => list.length > 0);
  return canonicalJson({ seq, ...Object.fromEntries(filled) }).slice(0, -1);
}

const headerSchema = z.strictObject({
  format: z.literal(FORMAT),
  version: z.int(),
  first: z.int().min(1),
});

const runtimeEntry: z.ZodType<RuntimeEntry> = z.discriminatedUnion("kind", [
  z.strictObject({ kind: z.literal("event-loop-group"), name: z.string() }),
  z.strictObject({ kind: z.literal("event-loop"), name: z.string(), group: z.string() }),
  z.strictObject({
    kind: z.literal("controller"),
    type: z.enum(["resp-controller", "http-controller"]),
    name: z.string(),
    address: z.string(),
    secretFile: z.string(),
  }),
  z.strictObject({
    kind: z.literal("smart-group-delegate"),
    name: z.string(),
    service: z.string(),
    servicePort: z.string(),
    zone: z.string(),
    serverGroup: z.string(),
  }),
  z.strictObject({
    kind: z.literal("smart-node-delegate"),
    name: z.string(),
    service: z.string(),
    servicePort: z.string(),
    zone: z.string(),
    address: z.string(),
    nic: z.string(),
    family: z.enum(["v4", "v6"]),
    port: portSchema,
    weight: z.int(),
    checkAddress: z.string(),
    timeoutMs: z.int(),
    periodMs: z.int(),
    up: z.int(),
    down: z.int(),
  }),
]);

const entrySchema = z.strictObject({
  seq: z.int(),
  set: z.array(z.unknown()).default([]),
  delete: z.array(z.strictObject({ kind: z.enum(KINDS), key: z.string() })).default([]),
  add: z.array(runtimeEntry).default([]),
  remove: z
    .array(
      // Lines of earlier versions have the whole entry here.
      z.object({
        kind: z.enum([
          "event-loop-group",
          "event-loop",
          "controller",
          "smart-group-delegate",
          "smart-node-delegate",
        ]),
        name: z.string(),
      }),
    )
    .default([]),
});

/** @param line without its end */
export function decodeHeader(line: string): Decoded<JournalHeader> {
  const raw = decodeLine(line);
  if (!raw.ok) return raw;
  const checked = checkAgainst(headerSchema, raw.value);
  if (!checked.ok) return faulty(checked.problems);
  const { version, first } = checked.value;
  if (version === JOURNAL_VERSION) return { ok: true, value: { version, first } };
  const fault = `it is of version ${version}; this program knows version ${JOURNAL_VERSION}`;
  return { ok: false, fault };
}

/** @param line without its end */
export function decodeEntry(line: string): Decoded<JournalEntry> {
  const raw = decodeLine(line);
  if (!raw.ok) return raw;
  const checked = checkAgainst(entrySchema, raw.value);
  if (!checked.ok) return faulty(checked.problems);
  const { seq, set, delete: gone, add, remove } = checked.value;
  const objects = decodeObjects(set);
  if (!objects.ok) return objects;
  const desired = { set: objects.value, delete: gone };
  return { ok: true, value: { seq, desired, runtime: { add, remove } } };
}

function decodeObjects(raw: readonly unknown[]): Decoded<readonly ModelObject[]> {
  const objects: ModelObject[] = [];
  for (const [index, one] of raw.entries()) {
    const checked = checkObject(one, ["set", index]);
    if (!checked.ok) return faulty(checked.problems);
    objects.push(checked.value);
  }
  return { ok: true, value: objects };
}

function decodeLine(line: string): Decoded<unknown> {
  const at = line.length - SUM_END.length - SUM_DIGITS - SUM_MARK.length;
  const body = line.slice(0, Math.max(0, at));
  if (at < 0 || line.slice(at) !== `${SUM_MARK}${hashText(body)}${SUM_END}`) {
    return { ok: false, fault: "its checksum does not fit" };
  }
  return { ok: true, value: JSON.parse(`${body}}`) };
}

function faulty(problems: readonly Problem[]): { readonly ok: false; readonly fault: string } {
  return { ok: false, fault: problems.map(formatProblem).join("; ") };
}
