import { expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { posixProblem } from "./posix-support.ts";

test("says what is missing", async () => {
  expect(await posixProblem({ platform: "darwin", arch: "arm64" })).toMatch(/need Linux/);
  expect(await posixProblem({ platform: "linux", arch: "s390x" })).toMatch(/x64 or arm64/);
});

test("finds nothing missing on Linux", requires("linux"), async () => {
  expect(await posixProblem(process)).toBeUndefined();
});
