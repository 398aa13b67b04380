import { expect, test } from "vitest";
import { parseKind } from "../core/model/parse.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import { StoreWaiters } from "./store-waiters.ts";

const settle = () => new Promise((resolve) => setImmediate(resolve));

function change(store: GlobalStore, zone: string): Promise<unknown> {
  store.transact("test", (tx) => tx.set(parseKind("Node", { name: "a", zone })));
  return settle();
}

test("each is told of the next change once, in the order in which they came", async () => {
  const store = new GlobalStore();
  const waiters = new StoreWaiters(store);
  const told: string[] = [];
  const [first, second, gone] = ["first", "second", "gone"].map((name) => () => {
    told.push(name);
  });
  for (const wake of [first, second, gone]) if (wake !== undefined) waiters.add(wake);
  if (gone !== undefined) waiters.remove(gone);
  await change(store, "one");
  expect(told).toEqual(["first", "second"]);
  await change(store, "two");
  expect(told).toEqual(["first", "second"]);
});

test("who waits again while others are told is told of the change after that", async () => {
  const store = new GlobalStore();
  const waiters = new StoreWaiters(store);
  let told = 0;
  const again = (): void => {
    told += 1;
    waiters.add(again);
  };
  waiters.add(again);
  await change(store, "one");
  expect(told).toBe(1);
  await change(store, "two");
  expect(told).toBe(2);
});
