/** A part of a line that takes room, or one that only changes colours (ECMA-48, SGR). */
// biome-ignore lint/suspicious/noControlCharactersInRegex: this is what colours begin with
const PARTS = /\u001b\[[\d;]*m|[^\u001b]/gu;

const CUT = "…";

/** The beginning of a line that has room in so many columns; what is cut off is marked. */
export function cutLine(line: string, columns: number): string {
  const parts = line.match(PARTS) ?? [];
  const isText = (part: string): boolean => !part.startsWith("\u001b");
  if (parts.filter(isText).length <= columns) return line;
  let room = columns - 1;
  let text = "";
  for (const part of parts) {
    // Colours that follow are kept: one of them ends the colour of what is shown.
    if (!isText(part)) text += part;
    else if (room > 0) {
      text += part;
      room--;
    } else if (room === 0) {
      text += CUT;
      room--;
    }
  }
  return columns <= 0 ? "" : text;
}
