import { expect, onTestFinished, test } from "vitest";
import type { Op } from "../../src/core/view/ops.ts";
import { watchNode } from "../../src/sources/api/watch-node.ts";
import { clientOptions, createReport } from "./api-brain.ts";
import {
  deleteOp,
  OLD_SETS,
  type OldAnswer,
  type Plain,
  RESET_OP,
  SYNC_OP,
  setOp,
  startOldServer,
} from "./api-old-contract.ts";

const { services, endpoints } = OLD_SETS;

async function watchOld(answersOf: (call: number) => readonly OldAnswer[]) {
  const server = await startOldServer("localv1.Sets", answersOf);
  onTestFinished(() => server.close());
  const report = createReport();
  const request = { nodeName: "node-a", sets: [] };
  const watcher = watchNode(clientOptions(server.port), request, report);
  onTestFinished(() => watcher.close());
  return { server, watcher, report };
}

const words = (ops: readonly Op[]) =>
  ops.map((op) => ("path" in op ? `${op.op} ${op.path}` : op.op));

const service = (ports: readonly Plain[], fields: Plain = {}): Plain => ({
  Namespace: "default",
  Name: "web",
  Type: "ClusterIP",
  IPs: { ClusterIPs: { V4: ["10.96.0.1"] } },
  Ports: ports,
  ...fields,
});
const http = { Name: "http", Protocol: 1, Port: 80, TargetPort: 8080 };
const both = { Internal: true, External: true };
const endpoint = (ip: string, fields: Plain = {}): Plain => ({
  IPs: { V4: [ip] },
  PortOverrides: [{ Name: "http", Port: 8080 }],
  Scopes: both,
  ...fields,
});

const setWeb = setOp(services, "default/web", service([http]));

test("an old server's state becomes a node's view: ports, lists and families", async () => {
  const local = endpoint("10.0.0.1", { Local: true, Hostname: "pod-1" });
  const dual = endpoint("10.0.0.2", { IPs: { V4: ["10.0.0.2"], V6: ["fd00::2"] } });
  const other = endpoint("10.0.0.3", { PortOverrides: [{ Name: "metrics", Port: 9100 }] });
  const neither = endpoint("10.0.0.4", { Scopes: {} });
  const { server, watcher } = await watchOld(() => [
    {
      ops: [
        RESET_OP,
        setWeb,
        setOp(endpoints, "default/web/pod-1", local),
        setOp(endpoints, "default/web/pod-2", dual),
        setOp(endpoints, "default/web/pod-3", other),
        setOp(endpoints, "default/web/pod-4", neither),
        SYNC_OP,
      ],
    },
  ]);
  const ops = await watcher.next();
  expect(server.requests[0]).toMatchObject({ NodeName: "node-a" });
  expect(words(ops)).toEqual([
    "reset",
    "set default/web",
    "set default/web/pod-1",
    "set default/web/pod-2",
    "sync",
  ]);
  expect(ops[1]).toMatchObject({ value: { key: "default/web", usable: [["v4", "v6"]] } });
  expect(ops[2]).toMatchObject({
    value: {
      service: "default/web",
      group: "default/web",
      local: true,
      endpoint: { name: "pod-1", podName: "pod-1", node: "node-a", hostName: "", ready: true },
      ports: [{ name: "http", target: 8080, clusterFor: ["v4"], localFor: ["v4"] }],
    },
  });
  expect(ops[3]).toMatchObject({
    value: { local: false, ports: [{ clusterFor: ["v4", "v6"], localFor: [] }] },
  });
});

test("endpoints without a service wait for it, and follow its ports", async () => {
  const unnamed = { Protocol: 1, Port: 80, TargetPort: 9000 };
  const { watcher } = await watchOld(() => [
    { ops: [RESET_OP, setOp(endpoints, "default/web/pod-1", endpoint("10.0.0.1")), SYNC_OP] },
    { ops: [setWeb, SYNC_OP] },
    { ops: [setOp(services, "default/web", service([unnamed])), SYNC_OP] },
    { ops: [deleteOp(services, "default/web"), SYNC_OP] },
  ]);
  expect(words(await watcher.next())).toEqual(["reset", "sync"]);
  const came = await watcher.next();
  expect(words(came)).toEqual(["set default/web", "set default/web/pod-1", "sync"]);
  const moved = await watcher.next();
  expect(moved[1]).toMatchObject({ value: { ports: [{ name: "", target: 9000 }] } });
  expect(words(await watcher.next())).toEqual([
    "delete default/web/pod-1",
    "delete default/web",
    "sync",
  ]);
});

test("a server that dies within a change leaves nothing half applied", async () => {
  const first = setOp(endpoints, "default/web/pod-1", endpoint("10.0.0.1"));
  const second = setOp(endpoints, "default/web/pod-2", endpoint("10.0.0.2"));
  const whole = { ops: [RESET_OP, setWeb, first, second, SYNC_OP] };
  const { watcher, report } = await watchOld((call) =>
    call === 0
      ? [
          { ops: [RESET_OP, setWeb, first, SYNC_OP] },
          { dieAfter: [deleteOp(endpoints, "default/web/pod-1"), second] },
        ]
      : [whole],
  );
  expect(words(await watcher.next())).toEqual([
    "reset",
    "set default/web",
    "set default/web/pod-1",
    "sync",
  ]);
  expect(words(await watcher.next())).toEqual(["set default/web/pod-2", "sync"]);
  expect(report.failures).toHaveLength(1);
});

test("a server that dies within the first state leaves nothing at all", async () => {
  const first = setOp(endpoints, "default/web/pod-1", endpoint("10.0.0.1"));
  const { watcher } = await watchOld((call) =>
    call === 0 ? [{ dieAfter: [RESET_OP, setWeb, first] }] : [{ ops: [RESET_OP, setWeb, SYNC_OP] }],
  );
  expect(words(await watcher.next())).toEqual(["reset", "set default/web", "sync"]);
});

test("a change that begins without a reset is refused", async () => {
  const { watcher, report } = await watchOld((call) =>
    call === 0 ? [{ ops: [setWeb, SYNC_OP] }] : [{ ops: [RESET_OP, setWeb, SYNC_OP] }],
  );
  expect(words(await watcher.next())).toEqual(["reset", "set default/web", "sync"]);
  expect(report.failures.map((error) => error.message)).toEqual([
    "the first change of the API began without a reset",
  ]);
});
