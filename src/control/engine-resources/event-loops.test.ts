import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { TypedControl } from "../typed.fixture.ts";

test("groups and loops come and go, and are kept", async () => {
  const typed = new TypedControl();
  await typed.typeAll("add event-loop-group elg0", "add event-loop el0 to event-loop-group elg0");
  expect(await typed.names("list elg")).toEqual(["worker", "elg0"]);
  expect(await typed.names("list el in elg elg0")).toEqual(["el0"]);
  expect(typed.world.kept()).toEqual([
    { kind: "event-loop-group", name: "elg0" },
    { kind: "event-loop", name: "el0", group: "elg0" },
  ]);
  expect(await typed.records("list-detail event-loop-group")).toEqual([
    { name: "worker", loops: ["worker-1", "worker-2"], default: true, "used-by": [] },
    { name: "elg0", loops: ["el0"], default: false, "used-by": [] },
  ]);
  expect(await typed.records("list-detail event-loop in event-loop-group elg0")).toEqual([
    { name: "el0", "event-loop-group": "elg0", "server-socks": 0, connections: 0, sessions: 0 },
  ]);
  await typed.type("remove event-loop-group elg0");
  expect(await typed.names("list event-loop-group")).toEqual(["worker"]);
  expect(typed.world.kept()).toEqual([]);
});

test("a group that listeners name is refused with who they are; forced it goes", async () => {
  const typed = new TypedControl();
  await typed.typeAll(
    "add upstream u0",
    "add event-loop-group elg0",
    "add tcp-lb lb0 address 127.0.0.1:8080 upstream u0 acceptor-elg elg0",
    "add socks5-server s0 address 127.0.0.1:1080 upstream u0 event-loop-group elg0",
  );
  expect(await typed.refusal("remove event-loop-group elg0")).toBe(
    "ERR_IN_USE event-loop-group elg0 is used by socks5-server s0, tcp-lb lb0; change or remove those first, or say force-remove",
  );
  await typed.type("force-remove event-loop-group elg0");
  expect(await typed.names("list event-loop-group")).toEqual(["worker"]);
});

test("what is not there, or is there already, is told", async () => {
  const typed = new TypedControl();
  await typed.type("add event-loop-group elg0");
  expect(await typed.refusal("add event-loop-group elg0")).toMatch(/^ERR_KEY_TAKEN /);
  expect(await typed.refusal("add event-loop el0 to event-loop-group elg1")).toBe(
    'ERR_NOT_FOUND there is no event-loop-group "elg1"; did you mean "elg0"?',
  );
  expect(await typed.refusal("remove event-loop worker-1 from event-loop-group elg0")).toMatch(
    /^ERR_NOT_FOUND there is no event-loop in event-loop-group elg0 "worker-1"/,
  );
  expect(await typed.refusal("add event-loop a,b to event-loop-group elg0")).toMatch(/^ERR_USAGE /);
});

test("what can not be kept is undone, and what can not be ended stays kept", async () => {
  const typed = new TypedControl();
  const full = () => new CoreError("ERR_JOURNAL", "the disk is full");
  typed.world.failNext = full();
  expect(await typed.refusal("add event-loop-group elg0")).toBe("ERR_JOURNAL the disk is full");
  expect(await typed.names("list event-loop-group")).toEqual(["worker"]);
  await typed.type("add event-loop-group elg0");
  typed.world.failNext = full();
  expect(await typed.refusal("add event-loop el0 to event-loop-group elg0")).toMatch(/full/);
  expect(await typed.names("list event-loop in event-loop-group elg0")).toEqual([]);
  await typed.type("add event-loop el0 to event-loop-group elg0");
  typed.world.failNext = full();
  expect(await typed.refusal("remove event-loop el0 from event-loop-group elg0")).toMatch(/full/);
  expect(await typed.names("list event-loop in event-loop-group elg0")).toEqual(["el0"]);
  await typed.type("add event-loop el1 to event-loop-group worker");
  const kept = typed.world.kept();
  expect(await typed.refusal("remove event-loop-group worker")).toMatch(/from the start/);
  expect(typed.world.kept()).toEqual(expect.arrayContaining([...kept]));
});

test("a loop that was there from the start comes back, which is said", async () => {
  const typed = new TypedControl();
  expect(await typed.type("remove event-loop worker-2 from event-loop-group worker")).toEqual({
    kind: "done",
    note: "connections that it has may end by themselves; the next start has as many loops as --loops says",
  });
});

test("force-remove ends a loop too, and it is kept no longer", async () => {
  const typed = new TypedControl();
  await typed.typeAll("add event-loop-group elg0", "add event-loop el0 to event-loop-group elg0");
  await typed.type("force-remove event-loop el0 from event-loop-group elg0");
  expect(await typed.names("list event-loop in event-loop-group elg0")).toEqual([]);
  expect(typed.world.kept().map(({ kind }) => kind)).toEqual(["event-loop-group"]);
});

test("without an engine the remedy is told", async () => {
  const typed = new TypedControl({ engine: null });
  for (const line of [
    "list event-loop-group",
    "add event-loop-group elg0",
    "list dns-cache",
    "list connection in event-loop worker-1",
  ]) {
    expect(await typed.refusal(line)).toMatch(/^ERR_NOT_POSSIBLE_HERE .*--to userspace$/);
  }
});
