import { expect, test } from "vitest";
import { minuteOf, websocksSecret, websocksToken } from "../../wire/websocks/websocks-token.ts";
import { WebsocksUsers } from "./websocks-users.ts";

const NOW_MS = 1_700_000_012_345;
const users = new WebsocksUsers([
  { name: "alice", password: "wonderful" },
  { name: "bob", password: "builder" },
]);

function tokenOf(password: string, minutesOff = 0): string {
  return websocksToken(websocksSecret(password), minuteOf(NOW_MS) + minutesOff * 60_000);
}

test("the token of a password is good for its minute and the two beside it", () => {
  const isGood = [-2, -1, 0, 1, 2].map((off) =>
    users.areRight("alice", tokenOf("wonderful", off), NOW_MS),
  );
  expect(isGood).toEqual([false, true, true, true, false]);
});

test.each([
  ["alice", tokenOf("builder")],
  ["bob", tokenOf("wonderful")],
  ["eve", tokenOf("wonderful")],
  ["", tokenOf("wonderful")],
  ["alice", "wonderful"],
  ["alice", ""],
  ["__proto__", tokenOf("wonderful")],
])("%s does not come in with %s", (name, token) => {
  expect(users.areRight(name, token, NOW_MS)).toBe(false);
});

test("who was let in is not any more when the password is another one, or the user is gone", () => {
  const pass = users.admit("alice", tokenOf("wonderful"), NOW_MS) ?? "";
  const now = (name: string, password: string) => new WebsocksUsers([{ name, password }]);
  expect(users.admit("alice", tokenOf("builder"), NOW_MS)).toBeUndefined();
  expect(now("alice", "wonderful").isGood(pass)).toBe(true);
  expect(now("alice", "other").isGood(pass)).toBe(false);
  expect(now("bob", "wonderful").isGood(pass)).toBe(false);
});
