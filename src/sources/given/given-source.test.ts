import { expect, test } from "vitest";
import { serviceSchema } from "../../core/model/service.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { createGivenSource } from "./given-source.ts";

test("puts its objects into the store as their owner, and has said all then", async () => {
  const store = new GlobalStore();
  const web = serviceSchema.parse({ kind: "Service", name: "web", ports: [{ port: 80 }] });
  const messages: string[] = [];
  const source = createGivenSource({ owner: "lb", objects: [web] });
  await source.start(store, {
    ok: (message) => void messages.push(message),
    failed: (error) => {
      throw error;
    },
  });
  expect(store.state().services.get("default/web")?.service).toEqual(web);
  expect(store.isSynced()).toBe(true);
  expect(() => store.transact("other", (transaction) => transaction.set(web))).toThrow(/lb/);
  expect(messages).toEqual(["1 objects"]);
  await source.close();
  expect(store.state().services.size).toBe(1);
});
