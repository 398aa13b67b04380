import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { CONTROL_OWNER } from "../world.ts";
import { Draft, viewOf } from "./state-view.ts";

const GROUP = parseKind("Group", { name: "g0" });
const NODE = parseKind("Node", { name: "n1" });
const server = (name: string, weight = 1) =>
  parseKind("Endpoint", { name, group: "g0", addresses: ["10.0.0.1"], weight });

function draftOver(): { readonly store: GlobalStore; readonly draft: Draft } {
  const store = new GlobalStore();
  store.transact("file", (transaction) => {
    for (const object of [GROUP, NODE, server("s1"), server("s2")]) transaction.set(object);
  });
  return { store, draft: new Draft(viewOf(store)) };
}

test("a draft shows the state with its changes, and leaves the state alone", () => {
  const { store, draft } = draftOver();
  const { revision } = store;
  draft.apply({
    set: [server("s1", 7), server("s3")],
    delete: [
      { kind: "Endpoint", key: "default/g0/s2" },
      { kind: "Node", key: "n1" },
    ],
  });
  expect(draft.get("Endpoint", "default/g0/s1")?.weight).toBe(7);
  expect(draft.get("Endpoint", "default/g0/s2")).toBeUndefined();
  expect(draft.get("Group", "default/g0")).toBe(GROUP);
  expect(draft.ownerOf("Endpoint", "default/g0/s3")).toBe(CONTROL_OWNER);
  expect(draft.ownerOf("Endpoint", "default/g0/s2")).toBeUndefined();
  expect(draft.ownerOf("Group", "default/g0")).toBe("file");
  expect(draft.endpointsOf("default/g0").map(({ name }) => name)).toEqual(["s1", "s3"]);
  expect([...draft.objects("Endpoint")].map(({ name }) => name)).toEqual(["s1", "s3"]);
  expect([...draft.objects("Node")]).toEqual([]);
  expect(store.revision).toBe(revision);
});

test("its changes are one: the last word about a key holds, and what never was is not deleted", () => {
  const { draft } = draftOver();
  draft.apply({ set: [server("s3"), server("s1", 2)], delete: [] });
  draft.apply({ set: [server("s1", 3)], delete: [{ kind: "Endpoint", key: "default/g0/s3" }] });
  draft.apply({ set: [], delete: [{ kind: "Endpoint", key: "default/g0/s2" }] });
  expect(draft.change()).toEqual({
    set: [server("s1", 3)],
    delete: [{ kind: "Endpoint", key: "default/g0/s2" }],
  });
});
