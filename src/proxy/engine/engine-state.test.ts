import { expect, test } from "vitest";
import { simulatedConfig } from "../loop/simulated-proxy.fixture.ts";
import { buildState, problemOf } from "./build-state.ts";
import { EMPTY_STATE, keepListeners, planChanges, planRemovals } from "./engine-state.ts";

function stateOf(...args: Parameters<typeof simulatedConfig>) {
  let rows = 0;
  const known = new Map<string, number>();
  const rowOf = (owner: string): number => {
    const row = known.get(owner) ?? rows++;
    known.set(owner, row);
    return row;
  };
  return buildState(simulatedConfig(...args), {
    rowOf,
    addressesOf: (host) => [host],
    workersOf: () => [],
  });
}

const kinds = (changes: readonly { readonly kind: string }[]) => changes.map(({ kind }) => kind);
const noneUp = (): readonly string[] => [];

test("from nothing: servers before those who send to them", () => {
  const { puts, removals } = planChanges(EMPTY_STATE, stateOf(["10.0.0.1"]), noneUp);
  expect(kinds(puts)).toEqual(["group", "server", "upstream", "listener"]);
  expect(removals).toEqual([]);
});

test("to nothing: in the opposite order", () => {
  const { puts, removals } = planChanges(stateOf(["10.0.0.1"]), EMPTY_STATE, noneUp);
  expect(puts).toEqual([]);
  expect(kinds(removals)).toEqual(["socket-gone", "upstream-gone", "group-gone"]);
});

test("nothing changes where nothing is different", () => {
  const { puts, removals } = planChanges(stateOf(["10.0.0.1"]), stateOf(["10.0.0.1"]), noneUp);
  expect([...puts, ...removals]).toEqual([]);
});

test("one server comes and one goes: nothing else is touched", () => {
  const before = stateOf(["10.0.0.1", "10.0.0.2"]);
  const { puts, removals } = planChanges(before, stateOf(["10.0.0.1", "10.0.0.3"]), () => ["x"]);
  expect(puts).toMatchObject([{ kind: "server", spec: { id: "10.0.0.3" }, up: ["x"] }]);
  expect(removals).toEqual([{ kind: "server-gone", group: "web", member: "10.0.0.2" }]);
});

test("a listener with another key on the same address keeps the socket", () => {
  const after = stateOf([], { listener: { key: "other" } });
  const { puts, removals } = planChanges(stateOf([]), after, noneUp);
  expect(kinds(puts)).toEqual(["listener"]);
  expect(removals).toEqual([]);
});

test("a listener that could not be changed goes on where it is, and is told again", () => {
  const before = stateOf([]);
  const address = { family: "v4", ip: "10.0.0.9", port: 80 } as const;
  const after = stateOf([], { listener: { address } });
  const reached = keepListeners(before, after, new Set(["web"]));
  expect(reached.listeners.get("web")?.config).toBe(before.listeners.get("web")?.config);
  expect(planRemovals(before, reached)).toEqual([]);
  expect(kinds(planChanges(reached, before, noneUp).puts)).toEqual(["listener"]);
  expect(keepListeners(EMPTY_STATE, after, new Set(["web"])).listeners.size).toBe(0);
});

test.each([
  [{ mode: "tcp" }, undefined],
  [{ mode: "dns" }, undefined],
  [
    { mode: "dns", address: { family: "v4", ip: "10.0.0.1", port: 0 } },
    /10\.0\.0\.1:0 .* mode dns/,
  ],
  [{ mode: "udp", address: { family: "unix", path: "/run/x" } }, /unix:\/run\/x/],
] as const)("%j can be had: %s", (listener, problem) => {
  const [config] = simulatedConfig([], { listener }).listeners;
  const found = config && problemOf(config);
  if (problem === undefined) expect(found).toBeUndefined();
  else expect(found).toMatch(problem);
});
