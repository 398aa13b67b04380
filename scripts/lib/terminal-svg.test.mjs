import { expect, test } from "vitest";
import { renderTerminal } from "./terminal-svg.mjs";

test("draws each line with its colours, and what XML needs escaped", () => {
  const svg = renderTerminal(
    "a < b",
    "\u001b[1mportolan\u001b[22m \u001b[32mup\u001b[39m & <x>\n\nend\n",
  );
  expect(svg).toContain('aria-label="a &#60; b"');
  expect(svg).toContain(
    '<tspan font-weight="bold">portolan</tspan> <tspan fill="#7ee787">up</tspan> &#38; &#60;x&#62;',
  );
  expect(svg.match(/<text /g)).toHaveLength(3);
  expect(svg).not.toContain("\u001b");
});
