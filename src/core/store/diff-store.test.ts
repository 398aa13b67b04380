import fc from "fast-check";
import { expect, test } from "vitest";
import { DiffStore } from "./diff-store.ts";

const entries = (rules: Record<string, string>) => Object.entries(rules);

test("reports created, updated and deleted keys, and nothing else", () => {
  const store = new DiffStore<string, string, string>();
  store.replace("web", entries({ same: "1", changes: "1", goes: "1" }));
  store.replace("untouched", entries({ stays: "1" }));
  store.commit();
  store.replace("web", entries({ same: "1", changes: "2", comes: "1" }));
  expect(store.diff()).toEqual({
    deleted: ["goes"],
    created: [["comes", "1"]],
    updated: [["changes", "2"]],
  });
});

test("reports the same changes again when the apply failed", () => {
  const store = new DiffStore<string, string, string>();
  store.replace("web", entries({ a: "1" }));
  const first = store.diff();
  expect(store.diff()).toEqual(first);
  expect(first.created).toEqual([["a", "1"]]);
  store.commit();
  expect(store.diff()).toEqual({ deleted: [], created: [], updated: [] });
});

test("an emptied group is removed, and an emptied store removes what is not refilled", () => {
  const store = new DiffStore<string, string, string>();
  store.replace("a", entries({ x: "1" }));
  store.replace("b", entries({ y: "1" }));
  store.commit();
  store.replaceAll();
  store.replace("b", entries({ y: "1" }));
  expect(store.diff()).toEqual({ deleted: ["x"], created: [], updated: [] });
  store.commit();
  expect(store.accepted("a").size).toBe(0);
  expect([...store.accepted("b")]).toEqual([["y", "1"]]);
});

test("compares by the function it was given", () => {
  const store = new DiffStore<string, string, { n: number }>((a, b) => a.n === b.n);
  store.replace("g", [["k", { n: 1 }]]);
  store.commit();
  store.replace("g", [["k", { n: 1 }]]);
  expect(store.diff().updated).toEqual([]);
});

type Step = readonly [group: string, rules: Record<string, string>, succeeds: boolean];

function applyDiff(store: DiffStore<string, string, string>, applied: Map<string, string>): void {
  const diff = store.diff();
  for (const key of diff.deleted) expect(applied.delete(key)).toBe(true);
  for (const [key] of diff.created) expect(applied.has(key)).toBe(false);
  for (const [key, value] of [...diff.created, ...diff.updated]) applied.set(key, value);
  store.commit();
}

test("applying every diff in turn always gives the state that was asked for", () => {
  const rules = fc.dictionary(fc.constantFrom("a", "b", "c"), fc.constantFrom("1", "2"));
  const steps: fc.Arbitrary<Step[]> = fc.array(
    fc.tuple(fc.constantFrom("g", "h"), rules, fc.boolean()),
  );
  fc.assert(
    fc.property(steps, (history) => {
      const store = new DiffStore<string, string, string>();
      const applied = new Map<string, string>();
      const wanted = new Map<string, Record<string, string>>();
      for (const [group, values, succeeds] of history) {
        wanted.set(group, values);
        store.replace(
          group,
          Object.entries(values).map(([key, value]) => [`${group}/${key}`, value]),
        );
        if (!succeeds) continue;
        applyDiff(store, applied);
        const all = [...wanted].flatMap(([name, own]) =>
          Object.entries(own).map(([key, value]) => [`${name}/${key}`, value] as const),
        );
        expect(applied).toEqual(new Map(all));
      }
    }),
  );
});
