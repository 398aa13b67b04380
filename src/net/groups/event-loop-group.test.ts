import { expect, test } from "vitest";
import { EventLoopGroup, type GroupResource } from "./event-loop-group.ts";
import type { EventLoopWrapper, GroupLoop } from "./event-loop-wrapper.ts";

const silent = (): void => undefined;

class FakeLoop implements GroupLoop {
  readonly name: string;
  readonly ended: Promise<{ error: Error | undefined }>;
  readonly told: string[];
  isRunning = true;
  drained: Promise<void> = Promise.resolve();
  #end: (error: Error | undefined) => void = silent;

  constructor(name: string, told: string[] = []) {
    this.name = name;
    this.told = told;
    this.ended = new Promise((resolve) => {
      this.#end = (error) => resolve({ error });
    });
  }

  async channels(): Promise<readonly []> {
    return [];
  }

  async dismiss(): Promise<void> {
    // It has no channels.
  }

  async drain(): Promise<void> {
    this.told.push(`drain ${this.name}`);
    await this.drained;
  }

  async stop(): Promise<void> {
    this.told.push(`stop ${this.name}`);
    this.die(undefined);
  }

  die(error: Error | undefined): void {
    this.isRunning = false;
    this.#end(error);
  }
}

function makeGroup(): {
  group: EventLoopGroup<FakeLoop>;
  errors: object[];
  slept: number[];
} {
  const errors: object[] = [];
  const slept: number[] = [];
  const group = new EventLoopGroup<FakeLoop>({
    name: "workers",
    log: { debug: silent, info: silent, warn: silent, error: (fields) => void errors.push(fields) },
    sleep: async (ms) => void slept.push(ms),
  });
  return { group, errors, slept };
}

function recorder(told: string[], id = "lb"): GroupResource<FakeLoop> {
  return {
    id,
    onLoopAdded: ({ name }: EventLoopWrapper<FakeLoop>) => void told.push(`${id} + ${name}`),
    onLoopRemoved: ({ name }) => void told.push(`${id} - ${name}`),
    onGroupClosed: () => void told.push(`${id} closed`),
  };
}

test("next goes round over the loops that run", async () => {
  const { group } = makeGroup();
  expect(group.next()).toBeUndefined();
  const loops = ["a", "b", "c"].map((name) => new FakeLoop(name));
  for (const loop of loops) await group.add(loop);
  expect(Array.from({ length: 4 }, () => group.next()?.name)).toEqual(["a", "b", "c", "a"]);
  const [, b] = loops;
  if (b !== undefined) b.isRunning = false;
  expect(Array.from({ length: 4 }, () => group.next()?.name)).toEqual(["c", "a", "c", "a"]);
});

test("what is attached is told of every loop, earlier and later", async () => {
  const { group } = makeGroup();
  const told: string[] = [];
  await group.add(new FakeLoop("a"));
  await group.attach(recorder(told));
  await group.add(new FakeLoop("b"));
  await group.remove("a", { drainTimeoutMs: 0 });
  group.detach("lb");
  await group.remove("b", { drainTimeoutMs: 0 });
  expect(told).toEqual(["lb + a", "lb + b", "lb - a"]);
});

test("a loop is left, drained and stopped, in that order", async () => {
  const { group, slept } = makeGroup();
  const told: string[] = [];
  await group.add(new FakeLoop("a", told));
  await group.attach(recorder(told));
  await group.remove("a", { drainTimeoutMs: 1000 });
  expect(told).toEqual(["lb + a", "lb - a", "drain a", "stop a"]);
  expect(slept).toEqual([1000]);
});

test("a loop that is released is left, and goes on", async () => {
  const { group } = makeGroup();
  const told: string[] = [];
  await group.add(new FakeLoop("a", told));
  await group.attach(recorder(told));
  expect((await group.release("a")).name).toBe("a");
  expect(told).toEqual(["lb + a", "lb - a"]);
  expect(group.loops()).toEqual([]);
});

test("what leaves for another group leaves every loop, and is told of none any more", async () => {
  const { group } = makeGroup();
  const told: string[] = [];
  const lb = recorder(told);
  for (const name of ["a", "b"]) await group.add(new FakeLoop(name));
  await group.attach(lb);
  await group.leave(lb);
  await group.add(new FakeLoop("c"));
  expect(told).toEqual(["lb + a", "lb + b", "lb - a", "lb - b"]);
  expect(group.resources()).toEqual([]);
});

test("a loop that does not drain is stopped when its time is over", async () => {
  const { group } = makeGroup();
  const told: string[] = [];
  const loop = new FakeLoop("a", told);
  loop.drained = new Promise(silent);
  await group.add(loop);
  await group.remove("a", { drainTimeoutMs: 10 });
  expect(told).toEqual(["drain a", "stop a"]);
});

test("a loop that dies leaves the group, and what is bound to it is told", async () => {
  const { group } = makeGroup();
  const told: string[] = [];
  const loop = new FakeLoop("a");
  const wrapper = await group.add(loop);
  await group.attach(recorder(told));
  wrapper.attach({ id: "check", onLoopEnded: (name) => void told.push(`check lost ${name}`) });
  expect(wrapper.resources()).toEqual(["check"]);
  loop.die(new Error("heap"));
  await loop.ended;
  await Promise.resolve();
  expect(told).toEqual(["lb + a", "check lost a", "lb - a"]);
  expect(group.loops()).toEqual([]);
  wrapper.attach({ id: "late", onLoopEnded: () => void told.push("late") });
  expect(told.at(-1)).toBe("late");
});

test("one resource that fails is reported and does not keep the others from being told", async () => {
  const { group, errors } = makeGroup();
  const told: string[] = [];
  await group.attach({
    ...recorder(told, "bad"),
    onLoopAdded: () => Promise.reject(new Error("no room")),
  });
  await group.attach(recorder(told, "good"));
  await group.add(new FakeLoop("a"));
  expect(told).toEqual(["good + a"]);
  expect(errors).toMatchObject([{ group: "workers", resource: "bad" }]);
});

test("closing tells what is attached and ends all loops", async () => {
  const { group } = makeGroup();
  const told: string[] = [];
  await group.attach(recorder(told));
  await group.add(new FakeLoop("a", told));
  await group.close({ drainTimeoutMs: 0 });
  expect(told).toEqual(["lb + a", "lb closed", "drain a", "stop a"]);
  await expect(group.add(new FakeLoop("b"))).rejects.toThrow("workers is closed");
});

test("names are one loop's each, and unknown ones are refused by name", async () => {
  const { group } = makeGroup();
  await group.add(new FakeLoop("a"));
  await expect(group.add(new FakeLoop("a"))).rejects.toMatchObject({ code: "ERR_KEY_TAKEN" });
  await expect(group.remove("z", { drainTimeoutMs: 0 })).rejects.toThrow('it has "a"');
});
