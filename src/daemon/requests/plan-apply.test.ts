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

const service = (name: string, groups: readonly string[], type = "Plain"): ModelObject =>
  parseObject({
    kind: "Service",
    name,
    type,
    ports: [{ port: 1 }],
    groups: groups.map((key) => ({ group: `default/${key}` })),
  });
const server = (group: string, name: string): ModelObject =>
  parseObject({ kind: "Endpoint", name, group, addresses: ["10.0.0.1"], ports: [{ port: 80 }] });
const listener = (name: string, leadsTo: string, port = 8080): ModelObject =>
  parseObject({
    kind: "Listener",
    name,
    address: "127.0.0.1",
    port,
    service: `default/${leadsTo}`,
    mode: "tcp",
  });
const named = (kind: ModelObject["kind"], key: string) => ({ kind, key: `default/${key}` });

test("what others lead to is not deleted, be they of a source, unless they go too or by force", () => {
  const own = [service("u", ["g"]), group("g"), group("free")];
  const store = storeWith(own, [listener("l", "u")]);
  const both = [named("Service", "u"), named("Group", "g")];
  expect(() => planDelete(store, both)).toThrow(
    expect.objectContaining({
      code: "ERR_IN_USE",
      message: "upstream u is used by tcp-lb l; delete those too, or say --force",
    }),
  );
  expect(() => planDelete(store, [named("Group", "g"), named("Group", "free")])).toThrow(
    "server-group g is used by upstream u; ",
  );
  expect(planDelete(store, both, { force: true })).toEqual({
    set: [],
    delete: both,
    tolerates: true,
  });
  const ours = storeWith([...own, listener("l", "u")]);
  const all = [...both, named("Listener", "l")];
  expect(planDelete(ours, all)).toEqual({ set: [], delete: all });
});

test("a group that goes by force is sent to no more by services of commands", () => {
  const theirs = service("theirs", ["g"]);
  const store = storeWith(
    [service("both", ["g", "h"]), service("one", ["g"]), group("g"), group("h")],
    [theirs],
  );
  const { set } = planDelete(store, [named("Group", "g")], { force: true });
  expect(set).toMatchObject([
    { name: "both", groups: [{ group: "default/h" }] },
    { name: "one", groups: [{ group: "default/(none)" }] },
  ]);
});

test("a group of the name of a service that names none is used by it", () => {
  const store = storeWith([service("web", [], "ClusterIP"), group("web")]);
  expect(() => planDelete(store, [named("Group", "web")])).toThrow(
    "server-group web is used by service web; ",
  );
});

test("what is in a group goes with it, once, and what a source put there stays", () => {
  const own = [group("g"), server("g", "a"), server("g", "b"), server("other", "c")];
  const store = storeWith(own, [server("g", "theirs")]);
  expect(planDelete(store, [named("Endpoint", "g/b"), named("Group", "g")]).delete).toEqual([
    named("Endpoint", "g/b"),
    named("Endpoint", "g/a"),
    named("Group", "g"),
  ]);
  const plain = storeWith([service("web", []), server("web", "a")]);
  expect(planDelete(plain, [named("Service", "web")]).delete).toEqual([
    named("Endpoint", "web/a"),
    named("Service", "web"),
  ]);
});

test("a prune is refused where what stays leads to what would go", () => {
  const own = [service("u", ["g"]), group("g"), listener("l", "u"), group("free")];
  const store = storeWith(own, [listener("theirs", "u", 8081)]);
  expect(() => planApply(store, [group("g")], { prune: true })).toThrow(
    expect.objectContaining({
      code: "ERR_IN_USE",
      message: "upstream u is used by tcp-lb theirs; keep it in the file, or change those",
    }),
  );
  expect(() => planApply(store, [service("u", ["g"])], { prune: true })).toThrow(
    "server-group g is used by upstream u; ",
  );
  expect(planApply(store, [service("u", [])], { prune: true }).delete).toEqual([
    named("Listener", "l"),
    named("Group", "g"),
    named("Group", "free"),
  ]);
});

test("a prune may take how a group balances: it lives by its servers", () => {
  const store = storeWith([service("u", ["g"]), group("g"), server("g", "a")]);
  const wanted = [service("u", ["g"]), server("g", "a")];
  expect(planApply(store, wanted, { prune: true }).delete).toEqual([named("Group", "g")]);
});
