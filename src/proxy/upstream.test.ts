import { expect, test } from "vitest";
import { seededRandom } from "../../test/support/seeded-random.ts";
import { NO_HINTS, type RouteHints } from "../core/model/route-hints.ts";
import type { RequestHint } from "../core/route/packet.ts";
import { ServerGroup } from "./server-group.ts";
import { Upstream } from "./upstream.ts";

/** A group with one server, whose member is named as the group. */
function groupOf(name: string, weight = 1): ServerGroup {
  const group = new ServerGroup({ method: "random", random: seededRandom(1), startsHealthy: true });
  group.put({ id: name, addresses: ["10.0.0.1"], port: 80, weight }, 0);
  return group;
}

type Attached = Partial<RouteHints> & { weight?: number; isDown?: boolean };

function upstreamOf(groups: Readonly<Record<string, Attached>>, fallsBack = true): Upstream {
  const upstream = new Upstream({ random: seededRandom(2), fallsBack });
  for (const [name, { weight = 1, isDown = false, ...hints }] of Object.entries(groups)) {
    upstream.attach(name, {
      group: groupOf(name, isDown ? 0 : 1),
      weight,
      hints: { ...NO_HINTS, ...hints },
    });
  }
  return upstream;
}

function ask(upstream: Upstream, hint?: RequestHint): string | undefined {
  return upstream.next(hint, "10.1.1.1", 0)?.server.memberId;
}

function shares(upstream: Upstream, count: number, hint?: RequestHint): Record<string, number> {
  const counts: Record<string, number> = {};
  for (let n = 0; n < count; n++) {
    const name = ask(upstream, hint) ?? "none";
    counts[name] = (counts[name] ?? 0) + 1;
  }
  return counts;
}

const SITES: Readonly<Record<string, Attached>> = {
  any: { host: "*" },
  sub: { host: "*.example" },
  exact: { host: "a.example" },
  api: { host: "a.example", path: "/api" },
  tls: { port: 443 },
};

test.each<[RequestHint, string]>([
  [{ host: "a.example" }, "exact"],
  [{ host: "A.example:8080" }, "exact"],
  [{ host: "a.example", path: "/api/v1?q=/x" }, "api"],
  [{ host: "a.example", path: "/apiary" }, "exact"],
  [{ host: "b.example" }, "sub"],
  [{ host: "other.test" }, "any"],
  [{ port: 443 }, "tls"],
])("%j goes to group %s", (hint, expected) => {
  const upstream = upstreamOf(SITES);
  expect(shares(upstream, 20, hint)).toEqual({ [expected]: 20 });
});

test("without a hint, or where none suits, groups take turns by weight", () => {
  const upstream = upstreamOf({
    a: { host: "a.example", weight: 3 },
    b: { weight: 1 },
    c: { weight: 0 },
  });
  expect(shares(upstream, 400)).toEqual({ a: 300, b: 100 });
  expect(shares(upstream, 400, { host: "z.example" })).toEqual({ a: 300, b: 100 });
});

test("a group without healthy servers is skipped", () => {
  expect(shares(upstreamOf({ a: { isDown: true }, b: {} }), 10)).toEqual({ b: 10 });
  expect(ask(upstreamOf({ a: { isDown: true } }))).toBeUndefined();
  expect(ask(upstreamOf({}))).toBeUndefined();
});

test("where the group that suits is down, the next that suits is taken, then any", () => {
  const hint = { host: "a.example" };
  const wide = { isDown: true, host: "a.example" };
  expect(shares(upstreamOf({ a: wide, b: { host: "*" }, c: {} }), 10, hint)).toEqual({ b: 10 });
  expect(shares(upstreamOf({ a: wide, c: {} }), 10, hint)).toEqual({ c: 10 });
});

test("without fall-back a request stays with the group that suits it", () => {
  const upstream = upstreamOf({ a: { isDown: true, host: "a.example" }, b: { host: "*" } }, false);
  expect(ask(upstream, { host: "a.example" })).toBeUndefined();
  expect(ask(upstream, { host: "b.example" })).toBe("b");
});

test("the group of a name is the one that suits; who falls back is given another that has a server", () => {
  const groups = { a: { isDown: true, host: "a.example" }, b: { weight: 0 }, c: {}, d: {} };
  const named = (fallsBack: boolean, host: string): string[] => {
    const upstream = upstreamOf(groups, fallsBack);
    const best = upstream.best({ host });
    return [...upstream.attachments].flatMap(([key, { group }]) => (group === best ? [key] : []));
  };
  expect(named(false, "a.example")).toEqual(["a"]);
  expect(named(true, "a.example")).toEqual(["c"]);
  expect(named(true, "z.example")).toEqual([]);
  const down = upstreamOf({ a: groups.a });
  expect(down.best({ host: "a.example" })).toBe(down.attachments.get("a")?.group);
});

test("a request leads to the groups that could be chosen for it", () => {
  const groups = { a: { isDown: true, host: "a.example" }, b: { host: "*.example" }, c: {} };
  const led = (fallsBack: boolean, hint?: RequestHint): string[] => {
    const upstream = upstreamOf(groups, fallsBack);
    const all = [...upstream.attachments];
    return all.flatMap(([key, { group }]) => (upstream.leadsTo(group, hint) ? [key] : []));
  };
  expect(led(true)).toEqual(["a", "b", "c"]);
  expect(led(true, { host: "z.test" })).toEqual(["a", "b", "c"]);
  expect(led(true, { host: "a.example" })).toEqual(["b"]);
  expect(led(false, { host: "a.example" })).toEqual(["a"]);
  expect(led(false, { host: "b.example" })).toEqual(["b"]);
});

test("of equals the one that was attached first is taken", () => {
  expect(ask(upstreamOf({ z: { host: "*" }, a: { host: "*" } }), { host: "x" })).toBe("z");
});

test("what is attached and detached counts at once", () => {
  const upstream = upstreamOf({ a: { host: "a.example" } });
  const hint = { host: "a.example", path: "/b" };
  expect(ask(upstream, hint)).toBe("a");
  const hints = { ...NO_HINTS, host: "a.example", path: "/b" };
  upstream.attach("b", { group: groupOf("b"), weight: 1, hints });
  expect(ask(upstream, hint)).toBe("b");
  upstream.attach("b", { group: groupOf("b"), weight: 0, hints });
  expect(ask(upstream, hint)).toBe("a");
  upstream.detach("a");
  upstream.detach("a");
  expect(ask(upstream, hint)).toBeUndefined();
});

test("a server that was tried is not given again", () => {
  const upstream = upstreamOf({ a: { host: "a.example" }, b: {} });
  const choice = upstream.next({ host: "a.example" }, "", 0, (one) => one.memberId !== "a");
  expect(choice?.server.memberId).toBe("b");
});

test("a server is found by its address in the groups that take connections", () => {
  expect(upstreamOf({ a: {} }).find("10.0.0.1", 80)?.server.memberId).toBe("a");
  expect(upstreamOf({ a: {} }).find("10.0.0.2", 80)).toBeUndefined();
  expect(upstreamOf({ a: { weight: 0 } }).find("10.0.0.1", 80)).toBeUndefined();
});

test("servers that no check has judged are tried only where no group has a healthy one", () => {
  const fresh = new ServerGroup({
    method: "random",
    random: seededRandom(1),
    startsHealthy: false,
  });
  fresh.put({ id: "new", addresses: ["10.0.0.2"], port: 80, weight: 1 }, 0);
  const upstream = new Upstream({ random: seededRandom(2), fallsBack: true });
  upstream.attach("new", { group: fresh, weight: 1, hints: NO_HINTS });
  expect(shares(upstream, 3)).toEqual({ new: 3 });
  upstream.attach("old", { group: groupOf("old"), weight: 1, hints: NO_HINTS });
  expect(shares(upstream, 4)).toEqual({ old: 4 });
});
