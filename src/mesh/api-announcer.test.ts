import { setTimeout as wait } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { announcementMethods, openGate } from "../brain/announcements/announcement-methods.ts";
import { Announcements } from "../brain/announcements/announcements.ts";
import { createApiServer } from "../brain/api-server.ts";
import { CoreError } from "../core/errors.ts";
import type { ListenAddress } from "../core/options/listen-address.ts";
import { GlobalStore } from "../core/store/global-store.ts";
import type { AnnouncementState } from "./announcer.ts";
import { createApiAnnouncer } from "./api-announcer.ts";
import { HeardLog } from "./running-manager.fixture.ts";
import { startSilence } from "./silence.fixture.ts";

const LATER = { timeout: 20_000 };
const INSTANCE = {
  service: "default/shop",
  servicePort: "",
  zone: "z0",
  node: "n1",
  address: "10.0.0.1",
  port: 80,
  weight: 5,
};

/** A brain that takes announcements of everybody. */
async function startBrain(port = 0, assertMay: () => void = () => undefined) {
  const store = new GlobalStore();
  const log = new HeardLog();
  const nowMs = () => performance.now();
  const announcements = new Announcements({ store, log, nowMs, before: [] });
  const listen = { kind: "tcp", host: "127.0.0.1", port } as const;
  const methods = announcementMethods(announcements, assertMay);
  const gate = { ...openGate(announcements), methods };
  const server = await createApiServer(store, { listen, gate, log });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (isClosed) return;
    isClosed = true;
    await server.close();
    await announcements.close();
  };
  onTestFinished(close);
  const names = () =>
    (store.state().groups.get("default/shop")?.endpoints ?? []).map(({ name }) => name);
  return { address: server.address, names, close };
}

function announceTo(address: ListenAddress) {
  const states: AnnouncementState[] = [];
  const end = new AbortController();
  const announcer = createApiAnnouncer({
    where: "api:brain",
    address,
    tls: undefined,
    ttlMs: 1000,
    random: () => 0,
    sleep: async (ms, signal) => void (await wait(ms, undefined, { signal })),
  });
  const over = announcer.announce(INSTANCE, (state) => states.push(state), end.signal);
  const stop = async (): Promise<void> => {
    end.abort();
    await over;
  };
  onTestFinished(stop);
  return { announcer, states, stop };
}

test("it is announced for as long as it is wanted, and withdrawn at the end", async () => {
  const brain = await startBrain();
  const { states, stop } = announceTo(brain.address);
  await expect.poll(brain.names, LATER).toEqual(["10.0.0.1:80"]);
  await expect.poll(() => states.at(-1), LATER).toEqual({ isMade: true, problem: "" });
  await stop();
  expect(brain.names()).toEqual([]);
});

test("what is left to another process is not withdrawn, and goes when its time is over", async () => {
  const brain = await startBrain();
  const { announcer, states, stop } = announceTo(brain.address);
  await expect.poll(() => states.at(-1), LATER).toEqual({ isMade: true, problem: "" });
  announcer.leave();
  await stop();
  expect(brain.names()).toEqual(["10.0.0.1:80"]);
  await expect.poll(brain.names, LATER).toEqual([]);
});

test("a brain that goes is told, and one that comes back without memory knows it again", async () => {
  const first = await startBrain();
  const { states } = announceTo(first.address);
  await expect.poll(first.names, LATER).toHaveLength(1);
  await first.close();
  await expect.poll(() => states.at(-1), LATER).toMatchObject({ isMade: false });
  expect(states.at(-1)?.problem).not.toBe("");
  if (first.address.kind === "unix") throw new TypeError("no port");
  const second = await startBrain(first.address.port);
  await expect.poll(second.names, LATER).toEqual(["10.0.0.1:80"]);
  await expect.poll(() => states.at(-1), LATER).toEqual({ isMade: true, problem: "" });
});

test("a certificate that has ended is no failure where there is another one by now", async () => {
  let calls = 0;
  const brain = await startBrain(0, () => {
    calls += 1;
    if (calls === 2 || calls > 3) throw new CoreError("ERR_UNAUTHORIZED", "its time is over");
  });
  const { states } = announceTo(brain.address);
  await expect
    .poll(() => states.slice(0, 3), LATER)
    .toMatchObject([
      { isMade: true },
      { isMade: true },
      // Refused again, also by a new connection.
      { isMade: false, problem: expect.stringContaining("its time is over") },
    ]);
});

test("who ends does not wait for a brain that says nothing", async () => {
  const { address, calls } = await startSilence();
  const { states, stop } = announceTo(address);
  await expect.poll(calls, LATER).toBe(1);
  const startMs = performance.now();
  await stop();
  // A brain has ten seconds to answer.
  expect(performance.now() - startMs).toBeLessThan(5000);
  expect(states).toEqual([]);
});
