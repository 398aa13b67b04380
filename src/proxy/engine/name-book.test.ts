import { afterEach, describe, expect, test, vi } from "vitest";
import type { Log } from "../../core/log.ts";
import { NameBook } from "./name-book.ts";

const quiet = (): void => undefined;
const log = { debug: quiet, info: quiet, warn: quiet, error: quiet };
const never = (): Promise<never> => new Promise(() => undefined);

test("addresses and paths are their own; names are looked up", async () => {
  const asked: string[] = [];
  const lookup = async (name: string): Promise<readonly string[]> => {
    asked.push(name);
    return ["10.0.0.2", "10.0.0.1", "10.0.0.2"];
  };
  const names = new NameBook({ lookup, log, sleep: never, onChanged: quiet });
  await names.follow(["10.9.9.9", "/run/a.sock", "a.example"]);
  expect(asked).toEqual(["a.example"]);
  expect(names.addressesOf("10.9.9.9")).toEqual(["10.9.9.9"]);
  expect(names.addressesOf("/run/a.sock")).toEqual(["/run/a.sock"]);
  expect(names.addressesOf("a.example")).toEqual(["10.0.0.1", "10.0.0.2"]);
  names.close();
});

test("a name that can not be found has none, and is no error", async () => {
  const lookup = () => Promise.reject(new Error("ENOTFOUND"));
  const names = new NameBook({ lookup, log, sleep: never, onChanged: quiet });
  await names.follow(["a.example"]);
  expect(names.addressesOf("a.example")).toEqual([]);
  names.close();
});

test("a resolver that is slow keeps nobody waiting, and its answer is told later", async () => {
  let answer: (addresses: readonly string[]) => void = quiet;
  let tell: () => void = quiet;
  const changed = new Promise<void>((resolve) => {
    tell = resolve;
  });
  const lookup = () =>
    new Promise<readonly string[]>((resolve) => {
      answer = resolve;
    });
  const names = new NameBook({
    lookup,
    log,
    sleep: async () => undefined,
    onChanged: () => tell(),
  });
  await names.follow(["a.example"]);
  expect(names.addressesOf("a.example")).toEqual([]);
  answer(["10.0.0.1"]);
  await changed;
  expect(names.addressesOf("a.example")).toEqual(["10.0.0.1"]);
  names.close();
});

describe("over time", () => {
  afterEach(() => {
    vi.useRealTimers();
  });

  /** A resolver that knows what the test says; all that is asked of it, told and logged. */
  function createBook() {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    const known = new Map<string, readonly string[]>();
    const asked: { readonly name: string; readonly atMs: number }[] = [];
    const lines: { readonly level: string; readonly fields: object }[] = [];
    const note = (level: string) => (fields: object) => void lines.push({ level, fields });
    const changes: number[] = [];
    const beganMs = performance.now();
    const log: Log = { debug: quiet, info: note("info"), warn: note("warn"), error: note("error") };
    const names = new NameBook({
      lookup: async (name) => {
        asked.push({ name, atMs: performance.now() - beganMs });
        const addresses = known.get(name);
        if (addresses === undefined) throw new Error(`getaddrinfo ENOTFOUND ${name}`);
        return addresses;
      },
      sleep: never,
      log,
      onChanged: () => void changes.push(performance.now() - beganMs),
    });
    const timesOf = (name: string): readonly number[] =>
      asked.filter((one) => one.name === name).map(({ atMs }) => atMs);
    return { names, known, lines, changes, timesOf };
  }

  test("a name that is not found is asked for less and less often; the others keep their time", async () => {
    const { names, known, timesOf } = createBook();
    known.set("there.example", ["10.0.0.1"]);
    await names.follow(["gone.example", "there.example"]);
    await vi.advanceTimersByTimeAsync(190_000);
    expect(timesOf("gone.example")).toEqual([0, 2, 6, 14, 30, 62, 122, 182].map((s) => s * 1000));
    expect(timesOf("there.example")).toEqual([0, 30, 60, 90, 120, 150, 180].map((s) => s * 1000));
    names.close();
  });

  test("that it is lost and found is told once each, without a stack", async () => {
    const { names, known, lines, changes } = createBook();
    await names.follow(["a.example"]);
    await vi.advanceTimersByTimeAsync(20_000);
    const lost = { name: "a.example", reason: "getaddrinfo ENOTFOUND a.example" };
    expect(lines).toEqual([{ level: "warn", fields: lost }]);
    known.set("a.example", ["10.0.0.1"]);
    await vi.advanceTimersByTimeAsync(120_000);
    const found = { name: "a.example", addresses: ["10.0.0.1"] };
    expect(lines.slice(1)).toEqual([{ level: "info", fields: found }]);
    expect(changes).toEqual([30_000]);
    names.close();
  });

  test("a name that gets lost keeps its addresses, and begins with short waits", async () => {
    const { names, known, lines, changes, timesOf } = createBook();
    known.set("a.example", ["10.0.0.1"]);
    await names.follow(["a.example"]);
    known.clear();
    await vi.advanceTimersByTimeAsync(37_000);
    expect(names.addressesOf("a.example")).toEqual(["10.0.0.1"]);
    expect(timesOf("a.example")).toEqual([0, 30_000, 32_000, 36_000]);
    expect(lines).toHaveLength(1);
    expect(changes).toEqual([]);
    names.close();
  });

  test("a name that nobody wants any more is not asked for", async () => {
    const { names, timesOf } = createBook();
    await names.follow(["a.example"]);
    await names.follow([]);
    await vi.advanceTimersByTimeAsync(100_000);
    expect(timesOf("a.example")).toEqual([0]);
  });
});
