import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { pathOfProgram } from "./path-of-program.ts";

test("finds a program as it would be found when it is called", () => {
  const found = execFileSync("sh", ["-c", "command -v ls"], { encoding: "utf8" }).trim();
  expect(pathOfProgram("ls")).toBe(found);
});

test("names the one that is not there", () => {
  expect(() => pathOfProgram("no-such-program")).toThrow("there is no program no-such-program");
});
