import { expect, test } from "vitest";
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
