// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a terminal must not be sent
const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g;

/**
 * A text that may be printed: characters that would make a terminal do something are shown as what they
 * are. Names and reasons come from other machines.
 */
export function visibleText(text: string): string {
  return text.replace(CONTROL, (char) => {
    const code = char.charCodeAt(0).toString(16).padStart(2, "0");
    return `\\x${code}`;
  });
}
