import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { TypedControl } from "../typed.fixture.ts";

/** Sources have an order, in which commands come last. */
function ordered(): TypedControl {
  const store = new GlobalStore({ ownerOrder: ["file", "control"] });
  store.transact("file", (transaction) => {
    transaction.set(parseKind("Service", { name: "web", clusterIPs: ["10.96.0.1"] }));
  });
  return new TypedControl({ store });
}

test("what would have to wait for another source is refused, and does not wait", async () => {
  const instance = ordered();
  const { store } = instance.world;
  expect(await instance.refusal("add service api cluster-ips 10.96.0.1 ports 80")).toMatch(
    /^ERR_ADDRESS_TAKEN Service default\/api claims cluster IP 10.96.0.1, which Service default\/web of file holds/,
  );
  expect(store.conflicts()).toEqual([]);
});

test("a change that would have to wait leaves what was there", async () => {
  const instance = ordered();
  await instance.type("add service api cluster-ips 10.96.0.2 ports 80");
  const before = instance.world.store.get("Service", "default/api");
  expect(await instance.refusal("update service api cluster-ips 10.96.0.1")).toMatch(
    /^ERR_ADDRESS_TAKEN/,
  );
  expect(instance.world.store.get("Service", "default/api")).toEqual(before);
  expect(instance.world.store.conflicts()).toEqual([]);
});

test("of a configuration too", async () => {
  const instance = ordered();
  instance.world.files.set(
    "/site.conf",
    "add upstream u0\nadd service api cluster-ips 10.96.0.1 ports 80\n",
  );
  expect(await instance.refusal("load /site.conf")).toMatch(/^ERR_ADDRESS_TAKEN/);
  expect(await instance.names("list upstream")).toEqual([]);
});
