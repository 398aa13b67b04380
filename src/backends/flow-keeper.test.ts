import { expect, test, vi } from "vitest";
import { FlowKeeper } from "./flow-keeper.ts";

const silent = (): void => undefined;
const LOG = { debug: silent, info: silent, warn: silent, error: silent };
const SERVICES = { get: () => undefined };

/** A keeper whose looks at flows are ended by the test. */
function open() {
  const looks: { changed: readonly string[]; end: () => void; fail: (error: Error) => void }[] = [];
  const keeper = new FlowKeeper(
    () => ({
      reconcile: async (_, services) => {
        const changed = [...services];
        await new Promise<void>((end, fail) => looks.push({ changed, end, fail }));
        return { looked: 0, removed: changed.length };
      },
      close: silent,
    }),
    () => false,
    LOG,
    "x",
  );
  const begun = (count: number) => vi.waitUntil(() => looks.length === count);
  return { keeper, looks, begun };
}

test("what changes during a look is looked at by the next, one after the other", async () => {
  const { keeper, looks, begun } = open();
  keeper.note(["a"]);
  const first = keeper.reconcile(SERVICES);
  await begun(1);
  keeper.note(["b"]);
  const second = keeper.reconcile(SERVICES);
  await new Promise((resolve) => setImmediate(resolve));
  expect(looks.map(({ changed }) => changed)).toEqual([["a"]]);
  looks[0]?.end();
  expect(await first).toBe(1);
  await begun(2);
  looks[1]?.end();
  expect(await second).toBe(1);
  expect(looks[1]?.changed).toEqual(["b"]);
});

test("a look that fails is made again, with what changed meanwhile; one that does not is not", async () => {
  const { keeper, looks, begun } = open();
  keeper.note(["a"]);
  const first = keeper.reconcile(SERVICES);
  await begun(1);
  keeper.note(["b"]);
  looks[0]?.fail(new Error("no flows"));
  expect(await first).toBe(0);
  const second = keeper.reconcile(SERVICES);
  await begun(2);
  looks[1]?.end();
  expect(await second).toBe(2);
  expect(await keeper.reconcile(SERVICES)).toBe(0);
  expect(looks).toHaveLength(2);
});
