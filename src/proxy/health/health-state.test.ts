import { expect, test } from "vitest";
import { groupSchema, type HealthCheck } from "../../core/model/group.ts";
import { HealthState } from "./health-state.ts";

const checkOf = (healthCheck: Record<string, unknown>): HealthCheck =>
  groupSchema.parse({ kind: "Group", name: "web", healthCheck }).healthCheck;
const CHECK = checkOf({ protocol: "tcp", up: 2, down: 3 });

function upState(): HealthState {
  const state = new HealthState(CHECK);
  state.checkSucceeded();
  state.checkSucceeded();
  return state;
}

test("successes in a row bring it up, and that is told once", () => {
  const state = new HealthState(CHECK);
  expect(state.health).toBe("starting");
  expect(state.reason).toBe("not checked yet");
  expect([1, 2, 3].map(() => state.checkSucceeded())).toEqual([undefined, "up", undefined]);
  expect(state.reason).toBe("");
});

test("failures in a row take it down, and that is told once", () => {
  const state = upState();
  const edges = [1, 2, 3, 4].map((n) => state.checkFailed(`failure ${n}`));
  expect(edges).toEqual([undefined, undefined, "down", undefined]);
  expect(state.health).toBe("down");
  expect(state.reason).toBe("failure 4");
});

test("one result of the other kind begins the count again", () => {
  const state = upState();
  state.checkFailed("x");
  state.checkFailed("x");
  state.checkSucceeded();
  expect([1, 2, 3].map(() => state.checkFailed("x"))).toEqual([undefined, undefined, "down"]);
  state.checkSucceeded();
  state.checkFailed("x");
  expect([1, 2].map(() => state.checkSucceeded())).toEqual([undefined, "up"]);
});

test("failed connections count as failed checks, until one succeeds", () => {
  const state = upState();
  state.checkFailed("x");
  state.connectionFailed("ECONNREFUSED");
  expect(state.connectionFailed("ECONNREFUSED")).toBe("down");
  const other = upState();
  other.connectionFailed("x");
  other.connectionFailed("x");
  other.connectionSucceeded();
  expect([1, 2, 3].map(() => other.connectionFailed("x"))).toEqual([undefined, undefined, "down"]);
});

test("a check that succeeds makes up for failed connections, too", () => {
  const state = upState();
  state.connectionFailed("ECONNREFUSED");
  state.connectionFailed("ECONNREFUSED");
  state.checkSucceeded();
  const edges = [1, 2, 3].map(() => state.connectionFailed("ECONNREFUSED"));
  expect(edges).toEqual([undefined, undefined, "down"]);
});

test("connections never bring it up", () => {
  const state = new HealthState(CHECK);
  for (let n = 0; n < 5; n++) state.connectionSucceeded();
  expect(state.health).toBe("starting");
});

test("without checks it is up, and stays up", () => {
  const none = checkOf({ protocol: "none", down: 1 });
  const state = new HealthState(none);
  expect(state.health).toBe("up");
  expect(state.connectionFailed("x")).toBeUndefined();
  const down = upState();
  for (let n = 0; n < 3; n++) down.checkFailed("x");
  expect(down.setCheck(none)).toBe("up");
  expect(down.setCheck(CHECK)).toBeUndefined();
});

test("a server that is starting is checked sooner", () => {
  expect(new HealthState(CHECK).nextCheckInMs).toBe(100);
  expect(upState().nextCheckInMs).toBe(CHECK.intervalMs);
  const quick = checkOf({ intervalMs: 50 });
  expect(new HealthState(quick).nextCheckInMs).toBe(50);
});

test("one that fails from the start is told as down", () => {
  const state = new HealthState(CHECK);
  expect([1, 2, 3].map(() => state.checkFailed("x"))).toEqual([undefined, undefined, "down"]);
});
