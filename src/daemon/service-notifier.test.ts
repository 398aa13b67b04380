import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createLog } from "./instance.fixture.ts";
import { createNotifier, type NotifierOptions } from "./service-notifier.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function create(environment: NotifierOptions["environment"], send?: NotifierOptions["send"]) {
  const sent: string[] = [];
  const { log, lines } = createLog();
  const notifier = createNotifier({
    environment,
    pid: 7,
    log,
    send: send ?? ((path, text) => void sent.push(`${path} ${text}`)),
  });
  return { notifier, sent, lines };
}

test("a service manager is told of the begin and the end", () => {
  const { notifier, sent } = create({ NOTIFY_SOCKET: "/run/notify" });
  const stop = notifier.watch(() => true);
  notifier.ready();
  notifier.stopping();
  stop();
  expect(sent).toEqual(["/run/notify READY=1", "/run/notify STOPPING=1"]);
});

test("its watchdog is told twice in the time that it gives, while nothing hangs", () => {
  const { notifier, sent } = create({ NOTIFY_SOCKET: "@x", WATCHDOG_USEC: "2000000" });
  let isLive = true;
  const stop = notifier.watch(() => isLive);
  vi.advanceTimersByTime(2000);
  expect(sent).toEqual(["@x WATCHDOG=1", "@x WATCHDOG=1", "@x WATCHDOG=1"]);
  isLive = false;
  vi.advanceTimersByTime(5000);
  expect(sent).toHaveLength(3);
  isLive = true;
  stop();
  vi.advanceTimersByTime(5000);
  expect(sent).toHaveLength(3);
});

test("a watchdog that is meant for another process is none", () => {
  const environment = { NOTIFY_SOCKET: "@x", WATCHDOG_USEC: "2000000", WATCHDOG_PID: "8" };
  const { notifier, sent } = create(environment);
  notifier.watch(() => true);
  vi.advanceTimersByTime(5000);
  expect(sent).toEqual([]);
});

test("without a service manager nothing is said; one that does not listen is no harm", () => {
  const none = create({});
  none.notifier.ready();
  none.notifier.watch(() => true);
  expect(none.sent).toEqual([]);
  const deaf = create({ NOTIFY_SOCKET: "/x" }, () => {
    throw new Error("connect failed: ENOENT");
  });
  deaf.notifier.ready();
  expect(deaf.lines.map(({ message }) => message)).toEqual([
    expect.stringContaining("connect failed: ENOENT"),
  ]);
});
