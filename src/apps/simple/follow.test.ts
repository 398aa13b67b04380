import { expect, test, vi } from "vitest";
import { serviceSchema } from "../../core/model/service.ts";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { follow } from "./follow.ts";

test("a sink is kept up to the store, and what fails is tried again", async () => {
  const store = new GlobalStore();
  const set = (...names: readonly string[]): void => {
    const services = names.map((name) => serviceSchema.parse({ kind: "Service", name }));
    store.transact("me", (transaction) => transaction.replaceAll(services));
    store.markSynced("me");
  };
  const end = new AbortController();
  const seen: string[] = [];
  let failures = 1;
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName: "a", sets: [] }),
    apply: ({ services }) => {
      failures -= 1;
      if (failures >= 0) throw new Error("not now");
      seen.push([...services.keys()].join());
    },
  });
  set("web");
  const following = follow(store, sink, { signal: end.signal });
  await vi.waitUntil(() => seen.length > 0, { timeout: 10_000 });
  set("web", "db");
  await vi.waitUntil(() => seen.length > 1, { timeout: 10_000 });
  end.abort();
  await following;
  expect(seen.map((keys) => keys.split(",").toSorted())).toEqual([
    ["default/web"],
    ["default/db", "default/web"],
  ]);
});
