import { expect, test } from "vitest";
import { parseStolen } from "./stolen-time.ts";

const TEXT = `cpu  1 0 2 3 4 5 6 300 0 0
cpu0 1 0 2 3 4 5 6 50 0 0
cpu1 1 0 2 3 4 5 6 250 0 0
intr 1
`;

test("reads what was stolen of one processor", () => {
  expect(parseStolen(TEXT, 0)).toBe(0.5);
  expect(parseStolen(TEXT, 1)).toBe(2.5);
  expect(() => parseStolen(TEXT, 2)).toThrow("no processor 2");
});
