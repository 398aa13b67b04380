import { describe, expect, test } from "vitest";
import { requires } from "../../test/support/requires.ts";
import { allowedProcessors, parseProcessorList } from "./allowed-processors.ts";

test.each([
  ["0", [0]],
  ["0-1", [0, 1]],
  ["0-2,5,8-9", [0, 1, 2, 5, 8, 9]],
])("a list of processors is numbers and ranges: %s", (list, numbers) => {
  expect(parseProcessorList(list)).toEqual(numbers);
});

test.each(["", "x", "3-1"])("what is none is refused: %j", (list) => {
  expect(() => parseProcessorList(list)).toThrow("is no range of processors");
});

describe("of this process", requires("linux"), () => {
  test("there is one at least", () => {
    expect(allowedProcessors().length).toBeGreaterThan(0);
  });
});
