import { expect, onTestFinished, test } from "vitest";
import { GlobalStore } from "../../core/store/global-store.ts";
import { configOf } from "../instance.fixture.ts";
import { WORLD } from "../world.ts";
import { openAnnouncer } from "./open-announcer.ts";

async function whereOf(...from: readonly string[]): Promise<string> {
  const config = await configOf({ from });
  const announcer = await openAnnouncer(new GlobalStore(), config, WORLD);
  onTestFinished(() => announcer.close());
  return announcer.where;
}

test("an etcd comes before an API, whichever is said first, and an API before the instance itself", async () => {
  const [etcd, api, file] = ["etcd:127.0.0.1:1", "api:127.0.0.1:2", "file:a"];
  expect(await whereOf(file, api, etcd)).toBe(etcd);
  expect(await whereOf(file, api)).toBe(api);
  expect(await whereOf(file)).toBe("this instance");
});

test("of several APIs the first is told", async () => {
  expect(await whereOf("api:127.0.0.1:2", "api:127.0.0.1:3")).toBe("api:127.0.0.1:2");
});
