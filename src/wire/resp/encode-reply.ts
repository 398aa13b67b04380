/** What a server answers. Where RESP2 lacks a type, it is told by the nearest that it has. */
export type RespReply =
  | TextReply
  /** A bulk string that need not be text; not within others. */
  | { readonly kind: "bytes"; readonly bytes: Buffer };

export type TextReply =
  /** A short word such as `OK`. */
  | { readonly kind: "simple"; readonly text: string }
  /** `word`: what programs look at, `ERR` or `NOAUTH`. */
  | { readonly kind: "error"; readonly word: string; readonly message: string }
  /** RESP2 has whole numbers only: others are bulk strings. */
  | { readonly kind: "number"; readonly value: number }
  /** RESP2: 1 and 0. */
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "bulk"; readonly text: string }
  /** For people, as it stands; RESP2: a bulk string. */
  | { readonly kind: "verbatim"; readonly text: string }
  | { readonly kind: "array"; readonly items: readonly TextReply[] }
  /** RESP2: an array of keys and values in turn. */
  | { readonly kind: "map"; readonly entries: readonly (readonly [string, TextReply])[] };

export type RespVersion = 2 | 3;

const END = "\r\n";
/** What a verbatim string is. */
const PLAIN_TEXT = "txt:";

/** The bytes of a reply. */
export function encodeReply(reply: RespReply, version: RespVersion): Buffer {
  if (reply.kind === "bytes") return encodeBytes(reply.bytes);
  const parts: string[] = [];
  write(reply, version, parts);
  return Buffer.from(parts.join(""), "utf8");
}

function encodeBytes(bytes: Buffer): Buffer {
  return Buffer.concat([Buffer.from(`$${bytes.length}${END}`), bytes, Buffer.from(END)]);
}

function write(reply: TextReply, version: RespVersion, parts: string[]): void {
  switch (reply.kind) {
    case "simple":
      parts.push("+", oneLine(reply.text), END);
      return;
    case "error":
      parts.push("-", oneLine(`${reply.word} ${reply.message}`), END);
      return;
    case "number":
      parts.push(numberText(reply.value, version));
      return;
    case "boolean":
      parts.push(booleanText(reply.value, version));
      return;
    case "bulk":
      parts.push(bulk(reply.text));
      return;
    case "verbatim":
      parts.push(version === 3 ? lengthy("=", `${PLAIN_TEXT}${reply.text}`) : bulk(reply.text));
      return;
    case "array":
      parts.push(`*${reply.items.length}${END}`);
      for (const item of reply.items) write(item, version, parts);
      return;
    case "map":
      parts.push(version === 3 ? `%${reply.entries.length}` : `*${2 * reply.entries.length}`, END);
      for (const [key, value] of reply.entries) {
        parts.push(bulk(key));
        write(value, version, parts);
      }
      return;
  }
}

function bulk(text: string): string {
  return lengthy("$", text);
}

/** The length is that of the bytes, not of the characters. */
function lengthy(sign: string, text: string): string {
  return `${sign}${Buffer.byteLength(text, "utf8")}${END}${text}${END}`;
}

function numberText(value: number, version: RespVersion): string {
  if (Number.isSafeInteger(value)) return `:${value}${END}`;
  if (version === 2) return bulk(String(value));
  return `,${String(value).replace("Infinity", "inf").replace("NaN", "nan")}${END}`;
}

function booleanText(value: boolean, version: RespVersion): string {
  if (version === 2) return `:${value ? 1 : 0}${END}`;
  return `#${value ? "t" : "f"}${END}`;
}

/** An end of a line within it would end the reply. */
function oneLine(text: string): string {
  return (
    text
      .replace(/\s*[\r\n]+\s*/g, "; ")
      // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be sent
      .replace(/[\u0000-\u001f\u007f]/g, " ")
  );
}
