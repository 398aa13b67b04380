import { expect, test } from "vitest";
import { CONTROL_OWNER } from "../../control/world.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { parseObject } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { describeChange, parseObjects, planApply, planDelete } from "./plan-apply.ts";

const group = (name: string, method = "random"): ModelObject =>
  parseObject({ kind: "Group", name, method });

function storeWith(own: readonly ModelObject[], theirs: readonly ModelObject[] = []): GlobalStore {
  const store = new GlobalStore();
  store.transact(CONTROL_OWNER, (transaction) => transaction.replaceAll(own));
  store.transact("file:a", (transaction) => transaction.replaceAll(theirs));
  return store;
}

test("only what differs is changed; all else of commands goes where that is asked for", () => {
  const store = storeWith([group("same"), group("differs"), group("goes")], [group("theirs")]);
  const wanted = [group("same"), group("differs", "round-robin"), group("comes")];
  const kept = planApply(store, wanted, { prune: false });
  expect(kept).toEqual({ set: [group("differs", "round-robin"), group("comes")], delete: [] });
  const pruned = planApply(store, wanted, { prune: true });
  expect(pruned.delete).toEqual([{ kind: "Group", key: "default/goes" }]);
  expect(describeChange(store, pruned)).toEqual([
    {
      action: "update",
      kind: "Group",
      key: "default/differs",
      before: group("differs"),
      after: group("differs", "round-robin"),
    },
    { action: "create", kind: "Group", key: "default/comes", after: group("comes") },
    { action: "delete", kind: "Group", key: "default/goes", before: group("goes") },
  ]);
});

test("of two words about one object the last holds", () => {
  const objects = [group("a"), group("a", "round-robin")];
  expect(planApply(storeWith([]), objects, { prune: false }).set).toEqual([
    group("a", "round-robin"),
  ]);
});

test("what a source has is refused by name, and what is not there as well", () => {
  const store = storeWith([group("ours")], [group("a"), group("b")]);
  expect(() => planApply(store, [group("a"), group("b"), group("c")], { prune: false })).toThrow(
    "Group default/a is of file:a: change it there\nGroup default/b is of file:a: change it there",
  );
  const name = (key: string) => ({ kind: "Group", key: `default/${key}` }) as const;
  expect(planDelete(store, [name("ours")])).toEqual({ set: [], delete: [name("ours")] });
  expect(() => planDelete(store, [name("ours"), name("a")])).toThrow("is of file:a");
  expect(() => planDelete(store, [name("ours"), name("none")])).toThrow(
    "not there: Group default/none",
  );
});

test("objects that are none are refused with all that is wrong", () => {
  expect(() => parseObjects([{ kind: "Group", name: "a" }, { kind: "Grup" }, 7])).toThrow(
    expect.objectContaining({
      code: "ERR_STATE_INVALID",
      problems: [
        expect.objectContaining({ path: ["objects", 1, "kind"] }),
        expect.objectContaining({ path: ["objects", 2] }),
      ],
    }),
  );
});
