import { expect, test } from "vitest";
import { workerArguments } from "./worker-arguments.ts";

test.each([
  [
    ["--input-type=module", "-e", "1"],
    ["-e", "1"],
  ],
  [
    ["--input-type", "module", "--import", "./first.mjs"],
    ["--import", "./first.mjs"],
  ],
  [["--max-old-space-size=64"], ["--max-old-space-size=64"]],
  [[], []],
])("of %j a thread takes over %j", (given, taken) => {
  expect(workerArguments(given)).toEqual(taken);
});
