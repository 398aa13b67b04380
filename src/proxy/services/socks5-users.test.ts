import { expect, test } from "vitest";
import { Socks5Users } from "./socks5-users.ts";

const users = new Socks5Users([
  { name: "ann", password: "one" },
  { name: "bob", password: "zwei ü" },
]);

test.each([
  ["ann", "one", true],
  ["bob", "zwei ü", true],
  ["ann", "zwei ü", false],
  ["ann", "", false],
  ["ann", "one ", false],
  ["eve", "one", false],
  ["", "", false],
])("%j with %j may come in: %s", (name, password, expected) => {
  expect(users.areRight(name, password)).toBe(expected);
});
