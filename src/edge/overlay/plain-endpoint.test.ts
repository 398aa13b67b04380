import { expect, test } from "vitest";
import { plainEndpoint } from "./plain-endpoint.ts";

test.each([
  ["[::ffff:c0a8:202]:50103", "192.168.2.2:50103"],
  ["[::ffff:a00:1]:1", "10.0.0.1:1"],
  ["[2001:db8::1]:50103", "[2001:db8::1]:50103"],
  ["192.0.2.1:50103", "192.0.2.1:50103"],
  ["", ""],
])("%s is %s", (text, plain) => {
  expect(plainEndpoint(text)).toBe(plain);
});
