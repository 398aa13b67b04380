/**
 * Draws what a terminal shows: the text on standard input, with its colours, as SVG on standard output.
 *
 *     npx portolan top --once | node scripts/terminal-picture.mjs "portolan top" > docs/images/top.svg
 */
import { text as readText } from "node:stream/consumers";
import { renderTerminal } from "./lib/terminal-svg.mjs";

const [title = ""] = process.argv.slice(2);
process.stdout.write(renderTerminal(title, await readText(process.stdin)));
