import { expect, test } from "vitest";
import {
  TCP_ESTABLISHED,
  TCP_FLAG,
  type TcpFlow,
} from "../../../wire/netlink/conntrack/tcp-flow.ts";
import { FakeTcpFlowTable } from "./fake-tcp-flow-table.fixture.ts";

const { beLiberal, maxAckSet } = TCP_FLAG;
const FLOW: TcpFlow = {
  family: "v4",
  original: { src: "10.0.0.1", srcPort: 1234, dst: "10.0.0.2", dstPort: 80 },
  reply: { src: "10.0.0.2", srcPort: 80, dst: "10.0.0.1", dstPort: 1234 },
  id: 1,
  state: TCP_ESTABLISHED,
  isAssured: true,
  isTranslated: false,
  hasHelper: false,
  adjustsSequences: false,
  timeoutS: 432_000,
  flags: { original: maxAckSet, reply: 0 },
};
const STRANGER = { ...FLOW.original, srcPort: 1 };

test("a flow is found by either direction, and listed for its family alone", async () => {
  const table = new FakeTcpFlowTable([FLOW]);
  expect(await table.ask([FLOW.reply, STRANGER, FLOW.original])).toEqual([FLOW, undefined, FLOW]);
  const listed: TcpFlow[] = [];
  await table.list("v6", (flow) => listed.push(flow));
  expect(listed).toEqual([]);
  await table.list("v4", (flow) => listed.push(flow));
  expect(listed).toEqual([FLOW]);
});

test("changes are applied to what is there, and all are noted", async () => {
  const table = new FakeTcpFlowTable([FLOW]);
  const changes = [
    { tuple: FLOW.reply, set: beLiberal, clear: maxAckSet, timeoutS: 60 },
    { tuple: STRANGER, set: beLiberal, clear: 0 },
  ];
  expect(await table.change(changes)).toBe(1);
  const flags = { original: beLiberal, reply: beLiberal };
  expect(table.flows).toEqual([{ ...FLOW, timeoutS: 60, flags }]);
  expect(table.changes).toEqual(changes);
});

test("a failure is thrown once", async () => {
  const table = new FakeTcpFlowTable();
  table.failure = new Error("broken");
  await expect(table.change([])).rejects.toThrow("broken");
  expect(await table.change([])).toBe(0);
});
