import { constants } from "node:os";
import { expect, test } from "vitest";
import { requires } from "../../test/support/requires.ts";
import { ERRNO, errnoName, errnoResult } from "./errno.ts";

test("names results, negative or not", () => {
  expect(errnoName(-11)).toBe("EAGAIN");
  expect(errnoName(104)).toBe("ECONNRESET");
  expect(errnoName(-9999)).toBe("errno 9999");
});

test("gives the result of a name", () => {
  expect(errnoResult("ECONNREFUSED")).toBe(-111);
  expect(errnoResult("ESOMETHING")).toBe(-ERRNO.EIO);
});

test("the numbers are those of Linux", requires("linux"), () => {
  const known: Readonly<Record<string, number>> = { ...constants.errno };
  for (const [name, number] of Object.entries(ERRNO)) {
    // Node does not list all that Linux has.
    if (known[name] !== undefined) expect(known[name], name).toBe(number);
  }
});
