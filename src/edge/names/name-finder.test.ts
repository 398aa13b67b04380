import { expect, onTestFinished, test, vi } from "vitest";
import { NameFinder } from "./name-finder.ts";

function finderOf(
  find: (names: readonly string[], signal: AbortSignal) => Promise<boolean>,
  known: readonly string[] = [],
) {
  const clock = { nowMs: 0 };
  const finding = vi.fn(find);
  const finder = new NameFinder({
    isKnown: (name) => known.includes(name),
    find: finding,
    nowMs: () => clock.nowMs,
  });
  return { finder, finding, clock };
}

test.each([
  ["web", ["web"]],
  ["RR.Web.shop", ["rr.web.shop", "web.shop"]],
  ["closest.web.local", ["closest.web.local", "web.local", "closest.web", "web"]],
  ["_80._tcp.2.web", ["2.web", "web"]],
  ["www.web", ["www.web"]],
])("%s is looked for as %j", async (question, names) => {
  const { finder, finding } = finderOf(async () => true);
  expect(await finder.find(question)).toBe(true);
  expect(finding.mock.calls.map(([asked]) => asked)).toEqual([names]);
});

test("what is known, as it is or by its policy, is not looked for", () => {
  const { finder, finding } = finderOf(async () => true, ["web"]);
  expect([finder.find("web"), finder.find("rr.web"), finder.find("3.web.local")]).toEqual([
    undefined,
    undefined,
    undefined,
  ]);
  expect(finding).not.toHaveBeenCalled();
});

test("names of addresses are not looked for", () => {
  const { finder, finding } = finderOf(async () => true);
  const names = ["1.0.30.10.in-addr.arpa", "lb._dns-sd._udp.0.0.30.10.IN-ADDR.ARPA", "f.ip6.arpa"];
  expect(names.map((name) => finder.find(name))).toEqual(names.map(() => undefined));
  expect(finding).not.toHaveBeenCalled();
});

test("many ask at the same time, and it is looked for once; what nobody has, not again for a while", async () => {
  const { finder, finding, clock } = finderOf(async () => false);
  expect(await Promise.all([finder.find("web"), finder.find("WEB")])).toEqual([false, false]);
  expect(finder.find("web")).toBeUndefined();
  clock.nowMs = 5001;
  expect(await finder.find("web")).toBe(false);
  expect(finding).toHaveBeenCalledTimes(2);
});

test("one that fails counts as one that has nothing", async () => {
  const { finder } = finderOf(() => Promise.reject(new Error("gone")));
  expect(await finder.find("web")).toBe(false);
});

test("who asks does not wait long, whatever the one does that is asked", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const { finder } = finderOf(() => new Promise(() => undefined));
  const finding = finder.find("web");
  await vi.advanceTimersByTimeAsync(1000);
  expect(await finding).toBe(false);
  expect(finder.find("web")).toBeUndefined();
});

test("so many names at once are looked for, and no more: others are answered as they are", () => {
  const { finder, finding } = finderOf(() => new Promise(() => undefined));
  const answers = Array.from({ length: 300 }, (_, number) => finder.find(`name-${number}`));
  expect(answers.filter((answer) => answer === undefined)).toHaveLength(44);
  expect(finding).toHaveBeenCalledTimes(256);
});
