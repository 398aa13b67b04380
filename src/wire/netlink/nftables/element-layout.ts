import type { Protocol } from "../../../core/model/common.ts";
import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../../ip-bytes.ts";
import { PROTOCOL_NUMBERS } from "../conntrack/flow.ts";
import { aligned } from "../netlink-words.ts";

/** One part of a key or value, as nft names its type. */
interface Field {
  readonly byteCount: number;
  /** False where the text is none of its kind. */
  write(text: string, bytes: Uint8Array, at: number): boolean;
  /** As nft writes it; undefined where the bytes are none of its kind. */
  read(view: DataView, at: number): string | undefined;
}

/** A field where it stands: in a concatenation each fills up whole registers of four bytes. */
interface PlacedField extends Field {
  readonly at: number;
}

/** The fields of a key or value. */
export interface FieldLayout {
  readonly fields: readonly PlacedField[];
  readonly byteCount: number;
}

/** What the elements of a set or map consist of. */
export interface ElementLayout {
  readonly key: FieldLayout;
  /** None in a set. */
  readonly value: FieldLayout | "verdict" | undefined;
}

const DOT = " . ";
const HEX = 16;
const HEX_DIGITS = "0123456789abcdef";
const HALF_BITS = 16;
const MAX_PORT = 0xffff;
const NUMBER = /^\d{1,5}$/;
const MAX_HEX_DIGITS = 4;
const PROTOCOLS: ReadonlyMap<string, number> = new Map(
  (["TCP", "UDP", "SCTP"] satisfies readonly Protocol[]).map((protocol) => [
    protocol.toLowerCase(),
    PROTOCOL_NUMBERS[protocol],
  ]),
);
const PROTOCOL_NAMES: ReadonlyMap<number, string> = new Map(
  [...PROTOCOLS].map(([name, number]) => [number, name]),
);

const FIELDS: ReadonlyMap<string, Field> = new Map([
  ["ipv4_addr", addressField(V4_BYTES)],
  ["ipv6_addr", addressField(V6_BYTES)],
  [
    "inet_proto",
    {
      byteCount: 1,
      write: (text, bytes, at) => {
        const number = PROTOCOLS.get(text);
        bytes[at] = number ?? 0;
        return number !== undefined;
      },
      read: (view, at) => PROTOCOL_NAMES.get(view.getUint8(at)),
    },
  ],
  [
    "inet_service",
    {
      byteCount: 2,
      write: (text, bytes, at) => {
        const port = NUMBER.test(text) ? Number(text) : Number.NaN;
        bytes[at] = port >> 8;
        bytes[at + 1] = port;
        return port <= MAX_PORT;
      },
      read: (view, at) => String(view.getUint16(at, false)),
    },
  ],
  // Of the few types that are in the byte order of the machine.
  [
    "classid",
    {
      byteCount: 4,
      write: (text, bytes, at) => {
        const colon = text.indexOf(":");
        const [low, high] = [readHex(text, colon + 1, text.length), readHex(text, 0, colon)];
        bytes[at] = low;
        bytes[at + 1] = low >> 8;
        bytes[at + 2] = high;
        bytes[at + 3] = high >> 8;
        return low >= 0 && high >= 0;
      },
      read: (view, at) => {
        const [low, high] = [view.getUint16(at, true), view.getUint16(at + HALF_BITS / 8, true)];
        return `${high.toString(HEX)}:${low.toString(HEX)}`;
      },
    },
  ],
]);

/** Reads `type ipv4_addr . inet_service : verdict`; undefined where a part of it is not known here. */
export function parseElementLayout(type: string): ElementLayout | undefined {
  const [, keyText = "", valueText] = /^type ([^:]+?)(?: : (.+))?$/.exec(type) ?? [];
  const key = fieldsOf(keyText);
  if (key === undefined) return undefined;
  if (valueText === undefined || valueText === "verdict") return { key, value: valueText };
  const value = fieldsOf(valueText);
  return value && { key, value };
}

/**
 * Writes `10.0.0.1 . tcp . 80` as the kernel holds it, into bytes that are zero. False where the text does
 * not fit the fields: then what was written means nothing.
 */
export function writeFields(
  { fields }: FieldLayout,
  text: string,
  bytes: Uint8Array,
  at: number,
): boolean {
  const last = fields.length - 1;
  let from = 0;
  for (let index = 0; index <= last; index += 1) {
    const field = fields[index];
    const to = index === last ? text.length : text.indexOf(DOT, from);
    if (to < 0 || field?.write(text.slice(from, to), bytes, at + field.at) !== true) return false;
    from = to + DOT.length;
  }
  return true;
}

/**
 * The other way: `10.0.0.1 . tcp . 80`. Undefined where the bytes do not fit the fields.
 * @param from where they begin
 */
export function decodeFields(
  layout: FieldLayout,
  view: DataView,
  from: number,
  byteCount: number,
): string | undefined {
  if (layout.byteCount !== byteCount) return undefined;
  let text = "";
  for (const { at, read } of layout.fields) {
    const part = read(view, from + at);
    if (part === undefined) return undefined;
    text += at === 0 ? part : DOT + part;
  }
  return text;
}

function addressField(byteCount: 4 | 16): Field {
  return {
    byteCount,
    // One of the other family may not find the room that it takes.
    write: (text, bytes, at) =>
      text.includes(":") === (byteCount === V6_BYTES) && writeIp(text, bytes, at) === byteCount,
    read: (view, at) =>
      readIp(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), at, byteCount),
  };
}

/** -1 where it is no number of up to four digits. */
function readHex(text: string, from: number, to: number): number {
  if (to <= from || to - from > MAX_HEX_DIGITS) return -1;
  let value = 0;
  for (let index = from; index < to; index += 1) {
    const digit = HEX_DIGITS.indexOf(text.charAt(index));
    if (digit < 0) return -1;
    value = value * HEX + digit;
  }
  return value;
}

function fieldsOf(text: string): FieldLayout | undefined {
  const fields: PlacedField[] = [];
  const names = text.split(DOT);
  let at = 0;
  for (const name of names) {
    const field = FIELDS.get(name);
    if (field === undefined) return undefined;
    fields.push({ ...field, at });
    at += names.length === 1 ? field.byteCount : aligned(field.byteCount);
  }
  return { fields, byteCount: at };
}
