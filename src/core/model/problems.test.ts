import { expect, test } from "vitest";
import {
  formatPath,
  formatProblem,
  invalid,
  nearest,
  problemsError,
  showValue,
  unknownKey,
} from "./problems.ts";

test("a problem names the field, the value and what would be right", () => {
  const path = ["services", 2, "ports", 0, "port"];
  expect(formatProblem(invalid(path, 70000, "a whole number from 1 to 65535"))).toBe(
    "services[2].ports[0].port: 70000 is not valid; expected a whole number from 1 to 65535",
  );
});

test("what is missing is not called undefined", () => {
  expect(formatProblem(invalid(["name"], undefined, "a name"))).toBe(
    "name: missing; expected a name",
  );
});

test("the location goes before the path", () => {
  const problem = { ...invalid(["a"], 1, "a text"), location: "state.yaml:3" };
  expect(formatProblem(problem)).toBe("state.yaml:3: a: 1 is not valid; expected a text");
});

test("keys that are no plain words are quoted", () => {
  expect(formatPath(["services", "prod/web", "labels", "a.example/b"])).toBe(
    'services["prod/web"].labels["a.example/b"]',
  );
});

test.each([
  ["x".repeat(500), 60],
  [{ ["k".repeat(500)]: 1 }, 80],
])("values are shortened", (value, limit) => {
  expect(showValue(value).length).toBeLessThanOrEqual(limit);
});

test("values of any depth and shape can be shown", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 100_000; level++) deep = [deep];
  expect(showValue(deep)).toBe("a list");
  expect(showValue(null)).toBe("null");
  expect(showValue({})).toBe("an empty object");
});

test.each([
  [["password"], "hunter2"],
  [["http", "authToken"], "abc"],
  [["clientSecrets", 0], "abc"],
  [["keyFile"], "-----BEGIN PRIVATE KEY-----\nabc"],
  [["servers", 0], "wss://me:hunter2@gateway.example:443"],
  [["servers", 0], "ws://me:a/b@c@gateway.example:443"],
])("secrets are never shown: %j", (path, value) => {
  expect(formatProblem(invalid(path, value, "something else"))).toContain("(hidden)");
});

test("an unknown key names the nearest known one, or all", () => {
  expect(formatProblem(unknownKey(["web", "lisen"], ["listen", "ports"]))).toBe(
    'web.lisen: unknown key; expected "listen"',
  );
  expect(formatProblem(unknownKey(["web", "qqqqqq"], ["listen", "ports"]))).toBe(
    "web.qqqqqq: unknown key; expected one of listen, ports",
  );
});

test.each([
  ["clusterips", "clusterIPs"],
  ["Servce", "Service"],
  ["prot", "port"],
  ["completely different", undefined],
])("the word nearest to %s is %s", (word, expected) => {
  expect(nearest(word, ["clusterIPs", "Service", "port"])).toBe(expected);
});

test("an error prints twenty problems, counts the rest and carries all", () => {
  const problems = Array.from({ length: 25 }, (_, index) => invalid([index], "x", "a number"));
  const error = problemsError("ERR_STATE_INVALID", problems);
  expect(error.message.split("\n")).toHaveLength(21);
  expect(error.message).toMatch(/and 5 more$/);
  expect(error.problems).toHaveLength(25);
});
