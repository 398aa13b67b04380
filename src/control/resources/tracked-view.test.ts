import { describe, expect, test } from "vitest";
import { parseObject } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { TrackedView } from "./tracked-view.ts";

const GROUP = parseObject({ kind: "Group", name: "g0" });
const OTHER = parseObject({ kind: "Group", name: "g1" });
const SERVER = parseObject({ kind: "Endpoint", name: "s", group: "g0", addresses: ["10.0.0.1"] });

/** What a look does, and what somebody sets after it. */
const LOOKS: readonly (readonly [
  string,
  (view: TrackedView) => unknown,
  typeof GROUP,
  isStale: boolean,
])[] = [
  ["the object itself", (view) => view.get("Group", "default/g0"), GROUP, true],
  ["its owner", (view) => view.ownerOf("Group", "default/g0"), GROUP, true],
  ["another object", (view) => view.get("Group", "default/g0"), OTHER, false],
  ["one of a kind of which all were read", (view) => [...view.objects("Group")], OTHER, true],
  ["an endpoint of a group that was read", (view) => view.endpointsOf("default/g0"), SERVER, true],
  ["an endpoint of another group", (view) => view.endpointsOf("default/g1"), SERVER, false],
];

describe("what was read is not so any more when somebody changes", () => {
  test.each(LOOKS)("%s", (_what, look, object, isStale) => {
    const store = new GlobalStore();
    const view = new TrackedView(store);
    look(view);
    store.transact("file", (transaction) => transaction.set(object));
    expect(view.isStale).toBe(isStale);
    view.close();
  });
});

test("what was changed before it was read, or after the end, does not count", () => {
  const store = new GlobalStore();
  const view = new TrackedView(store);
  store.transact("file", (transaction) => transaction.set(GROUP));
  expect(view.get("Group", "default/g0")).toBe(GROUP);
  view.close();
  store.transact("file", (transaction) => transaction.delete("Group", "default/g0"));
  expect(view.isStale).toBe(false);
});
