import type { Protocol } from "../../../core/model/common.ts";
import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../../ip-bytes.ts";
import { PROTOCOL_NUMBERS } from "../conntrack/flow.ts";
import { aligned } from "../netlink-words.ts";

/** One part of a key or value, as nft names its type. */
interface Field {
  readonly byteCount: number;
  /** False where the text is none of its kind. */
  write(text: string, view: DataView, at: number): boolean;
  /** As nft writes it; undefined where the bytes are none of its kind. */
  read(view: DataView, at: number): string | undefined;
}

/** What the elements of a set or map consist of. */
export interface ElementLayout {
  readonly key: readonly Field[];
  /** None in a set. */
  readonly value: readonly Field[] | "verdict" | undefined;
}

const DOT = " . ";
const HEX = 16;
const HALF_BITS = 16;
const MAX_PORT = 0xffff;
const NUMBER = /^\d{1,5}$/;
const CLASS_ID = /^([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
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
      write: (text, view, at) => {
        const number = PROTOCOLS.get(text);
        view.setUint8(at, number ?? 0);
        return number !== undefined;
      },
      read: (view, at) => PROTOCOL_NAMES.get(view.getUint8(at)),
    },
  ],
  [
    "inet_service",
    {
      byteCount: 2,
      write: (text, view, at) => {
        view.setUint16(at, Number(text), false);
        return NUMBER.test(text) && Number(text) <= MAX_PORT;
      },
      read: (view, at) => String(view.getUint16(at, false)),
    },
  ],
  // Of the few types that are in the byte order of the machine.
  [
    "classid",
    {
      byteCount: 4,
      write: (text, view, at) => {
        const [, high = "", low = ""] = CLASS_ID.exec(text) ?? [];
        view.setUint16(at, Number.parseInt(low, HEX), true);
        view.setUint16(at + HALF_BITS / 8, Number.parseInt(high, HEX), true);
        return high !== "";
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
 * `10.0.0.1 . tcp . 80` as the kernel holds it: in a concatenation each part fills up whole registers of
 * four bytes. Undefined where the text does not fit the fields.
 */
export function encodeFields(fields: readonly Field[], text: string): Uint8Array | undefined {
  const parts = text.split(DOT);
  if (parts.length !== fields.length) return undefined;
  const sizes = sizesOf(fields);
  const bytes = new Uint8Array(sizes.reduce((sum, size) => sum + size, 0));
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const [index, field] of fields.entries()) {
    if (!field.write(parts[index] ?? "", view, at)) return undefined;
    at += sizes[index] ?? 0;
  }
  return bytes;
}

/**
 * The other way: `10.0.0.1 . tcp . 80`. Undefined where the bytes do not fit the fields.
 * @param from where they begin
 */
export function decodeFields(
  fields: readonly Field[],
  view: DataView,
  from: number,
  byteCount: number,
): string | undefined {
  const sizes = sizesOf(fields);
  if (sizes.reduce((sum, size) => sum + size, 0) !== byteCount) return undefined;
  let at = from;
  let text = "";
  for (const [index, field] of fields.entries()) {
    const part = field.read(view, at);
    if (part === undefined) return undefined;
    text += index === 0 ? part : DOT + part;
    at += sizes[index] ?? 0;
  }
  return text;
}

function sizesOf(fields: readonly Field[]): readonly number[] {
  const isAlone = fields.length === 1;
  return fields.map(({ byteCount }) => (isAlone ? byteCount : aligned(byteCount)));
}

function addressField(byteCount: 4 | 16): Field {
  const scratch = new Uint8Array(V6_BYTES);
  return {
    byteCount,
    write: (text, view, at) => {
      if (writeIp(text, scratch, 0) !== byteCount) return false;
      new Uint8Array(view.buffer, at, byteCount).set(scratch.subarray(0, byteCount));
      return true;
    },
    read: (view, at) =>
      readIp(new Uint8Array(view.buffer, view.byteOffset, view.byteLength), at, byteCount),
  };
}

function fieldsOf(text: string): readonly Field[] | undefined {
  const fields = text.split(DOT).map((name) => FIELDS.get(name));
  return fields.every((field) => field !== undefined) ? fields : undefined;
}
