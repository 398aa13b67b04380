const FONT_SIZE = 13;
const CHARACTER = 7.83;
const LINE = 18;
const MARGIN = 18;
const BAR = 30;
const MIN_COLUMNS = 60;

/** By the numbers of SGR (ECMA-48); the others say nothing here. */
const COLOURS = new Map([
  [31, "#ff7b72"],
  [32, "#7ee787"],
  [33, "#e3b341"],
  [90, "#8b949e"],
]);

/** A change of colours, if any, and the text up to the next. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
const PARTS = /(?:\u001b\[([\d;]*)m)?([^\u001b]*)/g;

/**
 * A terminal window with the text in it.
 * @param {string} title
 * @param {string} text with colours as a terminal understands them
 */
export function renderTerminal(title, text) {
  const lines = text.replace(/\n+$/, "").split("\n");
  const columns = Math.max(MIN_COLUMNS, ...lines.map((line) => withoutColours(line).length));
  const width = Math.ceil(columns * CHARACTER + 2 * MARGIN);
  const height = BAR + lines.length * LINE + MARGIN;
  const rows = lines.map((line, index) => renderLine(line, BAR + (index + 1) * LINE));
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeText(title)}">
<rect width="${width}" height="${height}" rx="8" fill="#0d1117" stroke="#30363d"/>
${["#ff5f56", "#ffbd2e", "#27c93f"].map((fill, index) => `<circle cx="${MARGIN + index * 18}" cy="16" r="5.5" fill="${fill}"/>`).join("")}
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="${FONT_SIZE}" fill="#e6edf3" xml:space="preserve">
<text x="${width / 2}" y="20" text-anchor="middle" fill="#8b949e">${escapeText(title)}</text>
${rows.filter((row) => row !== "").join("\n")}
</g>
</svg>
`;
}

/**
 * @param {string} line
 * @param {number} y
 */
function renderLine(line, y) {
  const length = withoutColours(line).length;
  if (length === 0) return "";
  let style = PLAIN;
  let spans = "";
  for (const [, codes, part = ""] of line.matchAll(PARTS)) {
    for (const code of codes?.split(";") ?? []) style = styleAfter(style, Number(code));
    spans += renderSpan(part, style);
  }
  // Said, so that columns stand below each other in any font.
  const room = ` textLength="${(length * CHARACTER).toFixed(1)}" lengthAdjust="spacingAndGlyphs"`;
  return `<text x="${MARGIN}" y="${y}"${room}>${spans}</text>`;
}

/** @typedef {{ readonly colour: string | undefined, readonly isBold: boolean }} Style */

/** @type {Style} */
const PLAIN = { colour: undefined, isBold: false };

/**
 * @param {Style} style
 * @param {number} code
 * @returns {Style}
 */
function styleAfter(style, code) {
  if (code === 1 || code === 22) return { ...style, isBold: code === 1 };
  return { ...style, colour: COLOURS.get(code) };
}

/**
 * @param {string} part
 * @param {Style} style
 */
function renderSpan(part, { colour, isBold }) {
  if (part === "" || (colour === undefined && !isBold)) return escapeText(part);
  const fill = colour === undefined ? "" : ` fill="${colour}"`;
  const weight = isBold ? ' font-weight="bold"' : "";
  return `<tspan${fill}${weight}>${escapeText(part)}</tspan>`;
}

/** @param {string} line */
function withoutColours(line) {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with it
  return line.replace(/\u001b\[[\d;]*m/g, "");
}

/** @param {string} text */
function escapeText(text) {
  return text.replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`);
}
