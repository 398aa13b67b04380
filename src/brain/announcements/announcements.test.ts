import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { parseKind } from "../../core/model/parse.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import type { AnnounceRequest } from "./announced-instance.ts";
import { announcementMethods } from "./announcement-methods.ts";
import { Announcements } from "./announcements.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const silent = (): void => undefined;
const LOG = { debug: silent, info: silent, warn: silent, error: silent };

function requestOf(more: Partial<AnnounceRequest> = {}): AnnounceRequest {
  return {
    id: "announcer-1",
    service: "default/shop",
    servicePort: "",
    zone: "z0",
    node: "n1",
    address: "10.0.0.1",
    port: 80,
    weight: 10,
    ttlMs: 3000,
    ...more,
  };
}

function open(before: readonly AnnounceRequest[] = []) {
  const store = new GlobalStore();
  const kept: (readonly AnnounceRequest[])[] = [];
  const announcements = new Announcements({
    store,
    log: LOG,
    nowMs: () => Date.now(),
    before,
    keep: async (all) => {
      kept.push(all);
    },
  });
  const names = () =>
    (store.state().groups.get("default/shop")?.endpoints ?? []).map(({ name }) => name);
  return { store, announcements, names, kept };
}

test("an instance is there for as long as it says so", () => {
  const { announcements, names } = open();
  announcements.announce(requestOf());
  announcements.announce(requestOf({ address: "10.0.0.2", ttlMs: 5000 }));
  vi.advanceTimersByTime(2000);
  announcements.announce(requestOf());
  vi.advanceTimersByTime(2000);
  expect(names()).toEqual(["10.0.0.1:80", "10.0.0.2:80"]);
  vi.advanceTimersByTime(1000);
  expect(names()).toEqual([]);
  expect(announcements.metrics().map(({ samples }) => samples[0]?.value)).toEqual([0, 2]);
});

test("what another announcer has taken over is not withdrawn by the first", () => {
  const { announcements, names } = open();
  const place = { service: "default/shop", address: "10.0.0.1", port: 80 };
  announcements.announce(requestOf());
  announcements.announce(requestOf({ id: "announcer-2" }));
  expect(announcements.withdraw({ id: "announcer-1", ...place })).toBe(false);
  expect(names()).toHaveLength(1);
  expect(announcements.withdraw({ id: "announcer-2", ...place })).toBe(true);
  expect(names()).toEqual([]);
});

test("what was announced before a restart has its time again", () => {
  const first = open();
  first.announcements.announce(requestOf());
  first.announcements.announce(requestOf());
  expect(first.kept).toEqual([[requestOf()]]);
  const { names } = open(first.kept.at(-1));
  expect(names()).toEqual(["10.0.0.1:80"]);
  vi.advanceTimersByTime(3000);
  expect(names()).toEqual([]);
});

test("after a restart nothing is kept before all of it is there again", () => {
  const before = [requestOf(), requestOf({ address: "10.0.0.2" })];
  const { announcements, kept } = open(before);
  expect(kept).toEqual([]);
  const third = requestOf({ address: "10.0.0.3" });
  announcements.announce(third);
  expect(kept).toEqual([[...before, third]]);
});

test("a flood is kept in few goes, one after the other, and the last has all of it", async () => {
  const kept: number[] = [];
  const ends: (() => void)[] = [];
  const keep = (all: readonly AnnounceRequest[]): Promise<void> => {
    kept.push(all.length);
    return new Promise((resolve) => ends.push(resolve));
  };
  const store = new GlobalStore();
  const nowMs = () => Date.now();
  const announcements = new Announcements({ store, log: LOG, nowMs, before: [], keep });
  for (let port = 1; port <= 500; port += 1) announcements.announce(requestOf({ port }));
  expect(kept).toEqual([1]);
  ends.shift()?.();
  await vi.waitUntil(() => kept.length > 1);
  expect(kept).toEqual([1, 500]);
  const { id, service, address } = requestOf();
  announcements.withdraw({ id, service, address, port: 1 });
  const closed = announcements.close();
  ends.shift()?.();
  await vi.waitUntil(() => kept.length > 2);
  ends.shift()?.();
  await closed;
  expect(kept).toEqual([1, 500, 499]);
});

test("what can not be kept is told, and kept with the next change", async () => {
  const told: string[] = [];
  const kept: number[] = [];
  const announcements = new Announcements({
    store: new GlobalStore(),
    log: { ...LOG, error: (_, message) => void told.push(message) },
    nowMs: () => Date.now(),
    before: [],
    keep: async (all) => {
      if (told.length === 0) throw new Error("the disk is full");
      kept.push(all.length);
    },
  });
  announcements.announce(requestOf());
  await announcements.close();
  expect(told).toEqual([expect.stringContaining("the disk is full")]);
  announcements.announce(requestOf({ port: 81 }));
  await announcements.close();
  expect(kept).toEqual([2]);
});

test("what another owner has is refused, and stays", () => {
  const { store, announcements } = open();
  const own = { name: "10.0.0.1:80", group: "shop", addresses: ["10.9.9.9"] };
  store.transact("control", (transaction) => transaction.set(parseKind("Endpoint", own)));
  expect(() => announcements.announce(requestOf())).toThrow(/control/);
});

test("who may not speak for a service is refused, and wrong fields are named", async () => {
  const { announcements, names } = open();
  const methods = announcementMethods(announcements, (_, service) => {
    if (service !== "default/shop") throw new CoreError("ERR_UNAUTHORIZED", "not yours");
  });
  const announce = methods.get("/meshv1.Mesh/Announce");
  const withdraw = methods.get("/meshv1.Mesh/Withdraw");
  if (announce === undefined || withdraw === undefined) throw new TypeError("no methods");
  const caller = { kind: "stranger" } as const;
  await announce(caller, requestOf());
  expect(names()).toHaveLength(1);
  await expect(announce(caller, requestOf({ service: "default/other" }))).rejects.toThrow(
    "not yours",
  );
  await expect(announce(caller, { ...requestOf(), port: 0, more: 1 })).rejects.toThrow(
    /port.*more/s,
  );
  const { id, service, address, port } = requestOf();
  expect(await withdraw(caller, { id, service, address, port })).toEqual({ isGone: true });
});
