import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import type { TableRow } from "../../../edge/environment/route-table.ts";
import { Announcements } from "./announcements.ts";

const ROW: TableRow = {
  ...{ appName: "web", instanceNumber: 0, nodeIp: "192.0.2.1", nodePort: 50_103, isLocal: true },
  ...{ nsAddress: "10.18.0.2", nsAddressv6: "fc00::2", serviceIps: [] },
};
const TAKEN = new CoreError("ERR_KEY_TAKEN", "instance 0 runs on node two");
const AWAY = new CoreError("ERR_API_UNREACHABLE", "no answer");
const silent = (): void => undefined;

/** A manager that answers as it is told to. */
function world(announced: readonly string[] = []) {
  const calls: string[] = [];
  const warnings: string[] = [];
  const told: string[] = [];
  const manager: { refusal: CoreError | undefined } = { refusal: undefined };
  const link = {
    call: async (method: string, request: object) => {
      const said = "instances" in request ? JSON.stringify(request.instances) : undefined;
      calls.push(`${method} ${said ?? ("ready" in request ? request.ready : "")}`.trim());
      if (manager.refusal !== undefined) throw manager.refusal;
      return { edgeIPs: [] };
    },
  };
  const warn = (_: object, message: string): void => void warnings.push(message);
  const log = { debug: silent, info: silent, error: silent, warn };
  const announcements = new Announcements(link, announced, {
    log,
    onTold: silent,
    onRefused: ({ appName }, reason) => told.push(`${appName} refused: ${reason}`),
    onAccepted: ({ appName }) => told.push(`${appName} accepted`),
  });
  return { announcements, calls, warnings, told, manager };
}

test("what a manager refuses is tried again and again, and complained of once", async () => {
  const { announcements, calls, warnings, manager } = world();
  manager.refusal = TAKEN;
  announcements.setLocal([ROW]);
  for (const _ of [1, 2, 3]) await announcements.sync();
  expect(calls).toEqual(Array.from({ length: 4 }, () => "Deploy true"));
  expect(warnings).toEqual([
    "the manager could not be told: instance 0 runs on node two; it is tried again",
  ]);
  manager.refusal = undefined;
  await announcements.sync();
  expect(announcements.announced).toEqual(["default/web#0"]);
  // It is news when it happens again.
  announcements.doubt();
  manager.refusal = TAKEN;
  await announcements.sync();
  expect(warnings).toHaveLength(2);
});

test("a deployment that is refused is not announced, and one that can not be told is told later", async () => {
  const { announcements, calls, manager } = world();
  manager.refusal = TAKEN;
  await expect(announcements.announce(ROW)).rejects.toBe(TAKEN);
  await announcements.sync();
  expect(calls).toEqual(["Deploy false"]);
  manager.refusal = AWAY;
  expect(await announcements.announce(ROW)).toEqual([]);
  manager.refusal = undefined;
  announcements.setLocal([ROW]);
  await announcements.sync();
  expect(calls.slice(1)).toEqual(["Deploy false", "Deploy true"]);
});

test("what an earlier process announced and does not run any more is withdrawn", async () => {
  const { announcements, calls } = world(["default/web#0", "default/old#3"]);
  announcements.setLocal([ROW]);
  await announcements.sync();
  expect(calls).toEqual(["Undeploy", "Deploy true"]);
  expect(announcements.announced).toEqual(["default/web#0"]);
});

test("all that runs here is told at once, and what the manager forgot by that is not withdrawn again", async () => {
  const { announcements, calls, manager } = world(["default/old#3"]);
  await announcements.announce(ROW);
  await announcements.reconcile();
  expect(calls.slice(1)).toEqual(['Reconcile [{"service":"default/web","instance":0}]']);
  expect(announcements.announced).toEqual(["default/web#0"]);
  manager.refusal = AWAY;
  await expect(announcements.reconcile()).rejects.toBe(AWAY);
  // An older manager.
  manager.refusal = new CoreError("ERR_API_REFUSED", "gRPC status 12");
  await announcements.reconcile();
  expect(announcements.announced).toEqual(["default/web#0"]);
});

test("an instance that another node took over is told of once, and again when that is over", async () => {
  const { announcements, told, manager } = world(["default/web#0"]);
  manager.refusal = AWAY;
  announcements.setLocal([ROW]);
  await announcements.sync();
  expect(told).toEqual([]);
  manager.refusal = TAKEN;
  for (const _ of [1, 2]) await announcements.sync();
  expect(told).toEqual(["web refused: instance 0 runs on node two"]);
  manager.refusal = undefined;
  for (const _ of [1, 2]) await announcements.sync();
  expect(told.slice(1)).toEqual(["web accepted"]);
});
