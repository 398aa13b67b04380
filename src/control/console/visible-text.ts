/** Orders to the terminal, and what turns the direction of reading. */
const CONTROL =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal must not be sent
  /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;
const MAX_BYTE = 0xff;

/**
 * A text that may be printed: characters that would make a terminal do something are shown as what they
 * are. Names and reasons come from other machines.
 */
export function visibleText(text: string): string {
  return text.replace(CONTROL, (char) => {
    const code = char.charCodeAt(0);
    const digits = code.toString(16);
    return code <= MAX_BYTE ? `\\x${digits.padStart(2, "0")}` : `\\u${digits.padStart(4, "0")}`;
  });
}
