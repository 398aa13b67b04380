import { expect, test } from "vitest";
import { formatPlace, isGoodSocketPath, nameOfPlace, parseSocketPath } from "./socket-path.ts";

test("a path is read as people write it, and written back", () => {
  expect(parseSocketPath("unix:/run/web.sock")).toBe("/run/web.sock");
  expect(formatPlace("/run/web.sock", 0)).toBe("unix:/run/web.sock");
  expect(formatPlace("fd00::1", 80)).toBe("[fd00::1]:80");
});

test.each(["/run/web.sock", "unix:", "unix:web.sock", "unix:/run/", "web.example:80"])(
  "%s is none",
  (text) => expect(parseSocketPath(text)).toBeUndefined(),
);

test("the system's limit is of bytes, not of characters", () => {
  expect(isGoodSocketPath(`/${"a".repeat(106)}`)).toBe(true);
  expect(isGoodSocketPath(`/${"a".repeat(107)}`)).toBe(false);
  expect(isGoodSocketPath(`/${"ü".repeat(54)}`)).toBe(false);
  expect(isGoodSocketPath("/run/\n.sock")).toBe(false);
});

test("a name of it can be the name of an object", () => {
  expect(nameOfPlace("/run/my app/web.sock", 0)).toBe("unix:run:my_app:web.sock");
  expect(nameOfPlace("10.0.0.1", 80)).toBe("10.0.0.1:80");
});
