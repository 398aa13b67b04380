import { expect, onTestFinished, test, vi } from "vitest";
import { type AskResolver, LookUp } from "./look-up.ts";

/** A resolver that answers when it is told to. */
class SlowResolver {
  readonly asked: string[] = [];
  readonly #answers: (() => void)[] = [];

  readonly ask: AskResolver = (name) => {
    this.asked.push(name);
    return new Promise((resolve) => {
      this.#answers.push(() => resolve([{ address: "192.0.2.1" }, { address: "2001:DB8:0::1" }]));
    });
  };

  answer(): void {
    this.#answers.shift()?.();
  }
}

const FOUND = ["192.0.2.1", "2001:db8::1"];

test("two names are asked for at a time, the others one after the other", async () => {
  const resolver = new SlowResolver();
  const lookUp = new LookUp({ ask: resolver.ask });
  const [a, b, c] = ["a", "b", "c"].map((name) => lookUp.addressesOf(name));
  expect(resolver.asked).toEqual(["a", "b"]);
  resolver.answer();
  expect(await a).toEqual(FOUND);
  resolver.answer();
  expect(await b).toEqual(FOUND);
  expect(resolver.asked).toEqual(["a", "b", "c"]);
  resolver.answer();
  expect(await c).toEqual(FOUND);
});

test("nobody waits for ever, and what still hangs holds its place", async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const resolver = new SlowResolver();
  const lookUp = new LookUp({ ask: resolver.ask });
  const all = Promise.allSettled(["a", "b", "c", "d"].map((name) => lookUp.addressesOf(name)));
  await vi.advanceTimersByTimeAsync(5_000);
  for (const one of await all) {
    expect(one).toMatchObject({
      reason: {
        code: "ERR_NOT_FOUND",
        message: expect.stringContaining("(no answer within 5 s; try again later)"),
      },
    });
  }
  expect(resolver.asked).toEqual(["a", "b"]);
  const next = lookUp.addressesOf("e");
  resolver.answer();
  await vi.advanceTimersByTimeAsync(0);
  expect(resolver.asked).toEqual(["a", "b", "e"]);
  resolver.answer();
  resolver.answer();
  expect(await next).toEqual(FOUND);
});

test("this machine knows itself, and why a name is not known is told", async () => {
  const lookUp = new LookUp();
  expect(await lookUp.addressesOf("127.0.0.1")).toEqual(["127.0.0.1"]);
  await expect(lookUp.addressesOf("no such name")).rejects.toMatchObject({
    code: "ERR_NOT_FOUND",
    message: expect.stringMatching(/^no address is known for "no such name" \(E/),
  });
});
