import { expect, test } from "vitest";
import { locateInYaml } from "./locate-in-yaml.ts";

const TEXT = `a: 1
b:
  - x: {q: [1, 2]}
    "y z": |
      foo
  - &r z
c: *r
3: number
`;

test.each([
  [["a"], "a: 1"],
  [["b", 0], "x:"],
  [["b", 0, "x", "q", 1], "2]"],
  [["b", 0, "y z"], 'y z"'],
  [["b", 1], "z"],
  [["b", 1, "deeper"], "z"],
  [["b", 7], "b:"],
  [["c"], "c:"],
  [["3"], "3: number"],
  [["nothing"], "a: 1"],
])("%j stands at %s", (path, start) => {
  expect(TEXT.slice(locateInYaml(TEXT, path)).startsWith(start)).toBe(true);
});

test("in the document that is meant", () => {
  const text = "---\na: 1\n---\na: 2\n...\n";
  expect(text.slice(locateInYaml(text, ["a"], 1))).toBe("a: 2\n...\n");
});
