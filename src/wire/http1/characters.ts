/** Which bytes may stand where in an HTTP/1 head (RFC 9110 section 5, RFC 9112, RFC 3986). */

export const LF = 0x0a;
export const CR = 0x0d;
export const SPACE = 0x20;
export const COMMA = 0x2c;
export const COLON = 0x3a;
export const SEMICOLON = 0x3b;

/** Methods and field names. */
export const TOKEN = 1;
/** Field values and reason phrases. */
export const TEXT = 2;
export const BLANK = 4;
/** Request targets: what can be seen in ASCII; a fragment is never sent. */
export const TARGET = 8;
/** A host with its port, as it stands in a target or a Host field. */
export const AUTHORITY = 16;
export const DIGIT = 32;

const DIGIT_ZERO = 0x30;
const CLASSES = new Uint8Array(256);
const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
mark("0123456789", DIGIT);
mark(`!#$%&'*+-.^_\`|~${LETTERS_AND_DIGITS}`, TOKEN);
mark(`-._~%!$&'()*+,;=:[]${LETTERS_AND_DIGITS}`, AUTHORITY);
mark(" \t", BLANK | TEXT);
for (let byte = SPACE + 1; byte < CLASSES.length; byte++) {
  const isAscii = byte < 0x7f;
  const isFragment = byte === 0x23;
  if (isAscii || byte > 0x7f) add(byte, TEXT);
  if (isAscii && !isFragment) add(byte, TARGET);
}

function mark(characters: string, flag: number): void {
  for (const character of characters) add(character.charCodeAt(0), flag);
}

function add(byte: number, flag: number): void {
  CLASSES[byte] = (CLASSES[byte] ?? 0) | flag;
}

export function isOf(byte: number | undefined, flag: number): boolean {
  return byte !== undefined && ((CLASSES[byte] ?? 0) & flag) !== 0;
}

/** Where the first byte is that is not of the class. CR is of none, so a line ends every skip. */
export function skip(bytes: Uint8Array, from: number, flag: number): number {
  let at = from;
  while (((CLASSES[bytes[at] ?? CR] ?? 0) & flag) !== 0) at += 1;
  return at;
}

/** Whether the bytes are those of `lower`, in whichever case. */
export function equalsIgnoringCase(
  bytes: Uint8Array,
  start: number,
  end: number,
  lower: string,
): boolean {
  if (end - start !== lower.length) return false;
  for (let index = 0; index < lower.length; index++) {
    if (toLower(bytes[start + index] ?? 0) !== lower.charCodeAt(index)) return false;
  }
  return true;
}

function toLower(byte: number): number {
  return byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte;
}

/** Whether the bytes are exactly those of an ASCII text. */
export function equalsText(bytes: Uint8Array, start: number, end: number, text: string): boolean {
  if (end - start !== text.length) return false;
  for (let index = 0; index < text.length; index++) {
    if (bytes[start + index] !== text.charCodeAt(index)) return false;
  }
  return true;
}

/** The number that digits stand for. */
export function readDigits(bytes: Uint8Array, start: number, end: number): number {
  let number = 0;
  for (let at = start; at < end; at++) number = number * 10 + (bytes[at] ?? 0) - DIGIT_ZERO;
  return number;
}
