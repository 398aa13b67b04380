import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { CoreError } from "../core/errors.ts";
import { type EndListener, listenForEnd } from "./end-requests.ts";
import {
  configOf,
  createFakeDeps,
  createLog,
  FakeSource,
  fakeBackend,
  type LogLine,
} from "./instance.fixture.ts";
import { runInstance } from "./run-instance.ts";

interface Ends {
  readonly end: EndListener;
  readonly signals: EventEmitter;
  readonly stdout: EventEmitter;
  readonly exits: number[];
  readonly lines: LogLine[];
}

function createEnds(hasTerminal = true): Ends {
  const signals = new EventEmitter();
  const stdout = new EventEmitter();
  const exits: number[] = [];
  const { log, lines } = createLog();
  const exit = (code: number): void => void exits.push(code);
  const end = listenForEnd({ signals, stdout, log, hasTerminal, exit });
  return { end, signals, stdout, exits, lines };
}

test.each([
  ["SIGTERM", 0],
  ["SIGINT", 130],
  ["SIGHUP", 0],
])("%s ends cleanly with %i", async (signal, code) => {
  const { end, signals, exits } = createEnds();
  const calls: string[] = [];
  const config = await configOf({}, [fakeBackend("one", calls)]);
  const running = runInstance(config, createFakeDeps([new FakeSource("file:a", [])]), end);
  signals.emit(signal);
  expect(await running).toEqual({ exitCode: code, isClean: true });
  expect(calls.slice(-2)).toEqual(["one drain", "one close"]);
  expect(exits).toEqual([]);
});

test.each([
  ["SIGTERM", "SIGTERM", 143],
  ["SIGTERM", "SIGINT", 130],
  ["SIGINT", "SIGINT", 130],
])("%s and then %s ends at once with %i", (first, second, code) => {
  const { signals, exits } = createEnds();
  signals.emit(first);
  expect(exits).toEqual([]);
  signals.emit(second);
  expect(exits).toEqual([code]);
});

test("without a terminal a SIGHUP is nothing", async () => {
  const { end, signals, exits } = createEnds(false);
  signals.emit("SIGHUP");
  signals.emit("SIGHUP");
  signals.emit("SIGTERM");
  expect(await end.asked).toMatchObject({ reason: "SIGTERM" });
  expect(exits).toEqual([]);
});

test("an error that nobody caught is logged and ends with 1", () => {
  const { signals, exits, lines } = createEnds();
  signals.emit("unhandledRejection", new Error("oops"));
  expect(exits).toEqual([1]);
  expect(lines).toMatchObject([{ level: "error", fields: { err: new Error("oops") } }]);
});

test("a closed standard output ends quietly", async () => {
  const { end, stdout, lines } = createEnds();
  stdout.emit("error", Object.assign(new Error("write EPIPE"), { code: "EPIPE" }));
  expect(await end.asked).toMatchObject({ exitCode: 0 });
  expect(lines).toEqual([]);
});

test("a standard output that fails otherwise ends with 1 and says so", async () => {
  const { end, stdout, lines } = createEnds();
  stdout.emit("error", new Error("disk full"));
  expect(await end.asked).toMatchObject({ exitCode: 1 });
  expect(lines).toMatchObject([{ level: "error" }]);
});

test("listens no longer once disposed", () => {
  const { end, signals, stdout } = createEnds();
  end.dispose();
  expect([...signals.eventNames(), ...stdout.eventNames()]).toEqual([]);
});

test("once: 0 when the first state is applied, 1 when it failed", async () => {
  const calls: string[] = [];
  const source = (): FakeSource => new FakeSource("file:a", []);
  const good = await configOf({ once: true }, [fakeBackend("one", calls)]);
  expect(await runInstance(good, createFakeDeps([source()]), createEnds().end)).toMatchObject({
    exitCode: 0,
  });
  const failing = fakeBackend("bad", calls, {
    sink: { send: () => Promise.reject(new Error("x")) },
  });
  const bad = await configOf({ once: true }, [failing]);
  expect(await runInstance(bad, createFakeDeps([source()]), createEnds().end)).toMatchObject({
    exitCode: 1,
  });
});

test("one that ends on the first failure does so only then, without a stack for what is named", async () => {
  const { log, lines } = createLog();
  const refused = new CoreError("ERR_LISTEN", "can not listen on 127.0.0.1:80");
  const failing = fakeBackend("bad", [], { sink: { send: () => Promise.reject(refused) } });
  const source = (): FakeSource => new FakeSource("file:a", []);
  const options = { endsOnFirstFailure: true };
  const bad = await configOf({}, [failing]);
  const deps = createFakeDeps([source()], { log });
  expect(await runInstance(bad, deps, createEnds().end, options)).toMatchObject({ exitCode: 1 });
  const failed = lines.find(({ level }) => level === "error");
  expect(failed?.message).toBe("sync failed: can not listen on 127.0.0.1:80");
  expect(failed?.fields).not.toHaveProperty("err");
  const { end, signals } = createEnds();
  const good = await configOf({}, [fakeBackend("one", [])]);
  const running = runInstance(good, createFakeDeps([source()]), end, options);
  signals.emit("SIGTERM");
  expect(await running).toMatchObject({ exitCode: 0 });
});

test("an end that takes too long is not waited for", async () => {
  const { end, signals } = createEnds();
  const { log, lines } = createLog();
  const hanging = fakeBackend("hangs", [], {
    sink: { send: () => new Promise(() => undefined) },
  });
  const deps = createFakeDeps([new FakeSource("file:a", [])], {
    log,
    sleep: async () => undefined,
  });
  const running = runInstance(await configOf({}, [hanging]), deps, end);
  signals.emit("SIGTERM");
  expect(await running).toEqual({ exitCode: 0, isClean: false });
  expect(lines.map((line) => line.message)).toContain("not everything ended in time");
});
