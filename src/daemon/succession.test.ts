import { expect, onTestFinished, test } from "vitest";
import type { InnerPlane } from "../backends/backend.ts";
import { CoreError } from "../core/errors.ts";
import { StatusBoard } from "../core/status/status-board.ts";
import { Closers } from "./closers.ts";
import { configOf, createFakeDeps, FakeSource, fakeBackend } from "./instance.fixture.ts";
import { startInstance } from "./instance.ts";
import type { InstanceHandlers } from "./instance-socket/answer.ts";
import type { OfferedSockets, Presence } from "./presence.ts";
import { LogRing } from "./requests/log-ring.ts";
import { type Standstill, Succession } from "./succession.ts";

interface World {
  readonly calls: string[];
  readonly presence: Presence;
  handlers: InstanceHandlers | undefined;
  offered: OfferedSockets | undefined;
}

function createWorld(more: Partial<Presence> = {}): World {
  const calls: string[] = [];
  const world: World = {
    calls,
    handlers: undefined,
    offered: undefined,
    presence: {
      isWanted: false,
      open: async (handlers, { replaces }) => {
        world.handlers = handlers;
        calls.push(replaces ? "open in its place" : "open");
        return { close: async () => void calls.push("close the door") };
      },
      takeOver: async () => ({
        sockets: new Map([
          ["one TCP :80", [7]],
          ["other TCP :81", [8]],
        ]),
        confirm: () => void calls.push("confirm"),
        abandon: () => void calls.push("abandon"),
      }),
      offer: async (offered) => {
        world.offered = offered;
        return { path: "/offer", close: async () => void calls.push("close the offer") };
      },
      ...more,
    },
  };
  return world;
}

function planeOf(calls: string[]): InnerPlane {
  return {
    loopGroups: async () => [{ name: "worker", loops: [{ name: "worker-1", channels: {} }] }],
    profile: async (loop, durationMs) => `${loop} ${durationMs}`,
    sockets: () => new Map([["TCP :80", [5]]]),
    release: async () => void calls.push("release"),
  };
}

async function startWith(
  world: World,
  more: {
    readonly takesOver?: boolean;
    readonly plane?: InnerPlane;
    readonly fails?: boolean;
    readonly servesApi?: boolean;
  } = {},
) {
  const { takesOver = false, plane, fails = false, servesApi = false } = more;
  const inherited: unknown[] = [];
  const send = fails ? { send: () => Promise.reject(new CoreError("ERR_LISTEN", "taken")) } : {};
  const backend = fakeBackend("one", [], { sink: send });
  const config = await configOf({}, [
    {
      ...backend,
      definition: {
        ...backend.definition,
        takesOver: () => takesOver,
        create: async (options, context) => {
          inherited.push(...(context.inherited ?? []));
          const created = await backend.definition.create(options, context);
          return { ...created, ...(plane && { plane }) };
        },
      },
    },
  ]);
  const deps = createFakeDeps([new FakeSource("file:a", [])], {
    createPresence: () => world.presence,
  });
  return { instance: await startInstance({ ...config, servesApi }, deps), inherited };
}

/** What stands still, by itself. */
async function beginWith(world: World): Promise<Succession> {
  const deps = createFakeDeps([], { createPresence: () => world.presence });
  const closers = new Closers(deps.log);
  onTestFinished(() => closers.closeAll());
  return Succession.begin(await configOf({}), {
    deps,
    board: new StatusBoard({ now: () => 0 }),
    closers,
    live: { isControlled: false, startedMs: 0, metricsText: async () => "" },
    ring: new LogRing(() => 0),
  });
}

test("an instance with a data plane inside can be found; one without only where that is wanted", async () => {
  const plain = createWorld();
  await (await startWith(plain)).instance.stop();
  expect(plain.calls).toEqual([]);
  const wanted = createWorld({ isWanted: true });
  await (await startWith(wanted)).instance.stop();
  expect(wanted.calls).toEqual(["open", "close the door"]);
  const inside = createWorld();
  const { instance } = await startWith(inside, { plane: planeOf([]) });
  expect(inside.calls).toEqual(["open"]);
  expect(await inside.handlers?.profile({ loop: "worker-1", seconds: 2 })).toEqual({
    profile: "worker-1 2000",
  });
  await expect(inside.handlers?.profile({ loop: "x", seconds: 2 })).rejects.toThrow(
    'event loop "x" is not there; there are worker-1',
  );
  await instance.stop();
});

test("takes the sockets over, and says so when the first state is applied", async () => {
  const world = createWorld();
  const { instance, inherited } = await startWith(world, { takesOver: true });
  expect(inherited).toEqual([["TCP :80", [7]]]);
  await instance.applied;
  expect(world.calls).toEqual(["confirm", "open in its place"]);
  await instance.stop();
  expect(world.calls).not.toContain("abandon");
});

test("who serves the API is refused before the other one is asked for anything", async () => {
  const world = createWorld();
  const starting = startWith(world, { takesOver: true, servesApi: true });
  await expect(starting).rejects.toMatchObject({
    code: "ERR_USAGE",
    message: expect.stringMatching(/^--take-over: .* \(--to api\) can not/),
  });
  expect(world.calls).toEqual([]);
});

test("where the first state can not be applied, the other one goes on", async () => {
  const world = createWorld();
  const { instance } = await startWith(world, { takesOver: true, fails: true });
  await expect(instance.applied).rejects.toThrow("taken");
  await instance.stop();
  expect(world.calls).toEqual(["abandon"]);
});

test("gives its sockets to the next one, and ends when that one serves", async () => {
  const world = createWorld();
  const { instance } = await startWith(world, { plane: planeOf(world.calls) });
  expect(await world.handlers?.["take-over"]({})).toEqual({ pid: process.pid, path: "/offer" });
  expect(world.offered?.sockets()).toEqual(new Map([["one TCP :80", [5]]]));
  world.offered?.onTaken();
  await instance.replaced;
  expect(world.calls).toEqual(["open", "release"]);
  await instance.stop();
  expect(world.calls).toEqual(["open", "release", "close the door", "close the offer"]);
});

test("what stands still for another process goes on once where that one goes, and begins late where it is added late", async () => {
  const world = createWorld({ isWanted: true });
  const succession = await beginWith(world);
  const said: string[] = [];
  const standstill = (name: string): Standstill => ({
    begin: async () => void said.push(`${name} stands`),
    end: () => void said.push(`${name} goes on`),
  });
  await succession.addStandstill(standstill("a"));
  await world.handlers?.["take-over"]({});
  await succession.addStandstill(standstill("b"));
  expect(said).toEqual(["a stands", "b stands"]);
  world.offered?.onAbandoned();
  world.offered?.onAbandoned();
  expect(said.slice(2)).toEqual(["a goes on", "b goes on"]);
});
