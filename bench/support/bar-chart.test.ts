import { expect, test } from "vitest";
import { renderBarChart } from "./bar-chart.ts";

const SVG = renderBarChart({
  title: "Fast & <faster>",
  subtitle: "today",
  one: "as fast as B",
  series: new Map([
    ["A", "#111111"],
    ["B", "#222222"],
  ]),
  groups: [
    {
      label: "requests",
      bars: [
        { series: "A", value: 2, text: "2 times" },
        { series: "B", value: 1, text: "1" },
      ],
    },
  ],
});

function widthOf(colour: string): number {
  const bars = [...SVG.matchAll(/<rect x="270"[^>]* width="(\d+)"[^>]* fill="([^"]+)"/g)];
  return Number(bars.find(([, , fill]) => fill === colour)?.[1]);
}

test("bars are as long as their values", () => {
  expect(widthOf("#111111")).toBe(2 * widthOf("#222222"));
});

test("the line stands where bars of length 1 end", () => {
  expect(SVG).toContain(`M${270 + widthOf("#222222")} `);
});

test("texts are escaped", () => {
  expect(SVG).toContain(">Fast &amp; &lt;faster&gt;</text>");
});
