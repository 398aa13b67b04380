import { execFileSync } from "node:child_process";
import { describe, expect, onTestFinished, test } from "vitest";
import { SOCK_CLOEXEC, SOCK_STREAM } from "../../src/platform/linux/abi.ts";
import { openTcpFlowTable } from "../../src/platform/linux/conntrack/tcp-flow-table.ts";
import { close, write } from "../../src/platform/linux/io-calls.ts";
import { allocateNative } from "../../src/platform/linux/native-memory.ts";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { domainOf } from "../../src/platform/linux/sockaddr.ts";
import { listen, socket } from "../../src/platform/linux/socket-calls.ts";
import { bindTo, connectTo, localAddressOf } from "../../src/platform/linux/socket-names.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import { type IpSocketAddress, ipAddress } from "../../src/platform/socket-address.ts";
import type { FlowTuple } from "../../src/wire/netlink/conntrack/flow.ts";
import {
  TCP_ESTABLISHED,
  TCP_FLAG,
  type TcpFlow,
} from "../../src/wire/netlink/conntrack/tcp-flow.ts";
import { requires } from "../support/requires.ts";

const LOOPBACK = { v4: "127.0.0.1", v6: "::1" } as const;
const OTHERS = { v4: "v6", v6: "v4" } as const;
const BACKLOG = 512;

/** A connection of this process to itself, and its descriptor at the end that called. */
interface Connection {
  readonly fd: number;
  readonly original: FlowTuple;
  readonly reply: FlowTuple;
}

/** A namespace of its own, with a rule without which nothing would be tracked. */
function openNamespace(): NetworkNamespace {
  const namespace = NetworkNamespace.create(() => {
    execFileSync("ip", ["link", "set", "lo", "up"]);
    execFileSync("nft", ["-f", "-"], {
      input:
        "table inet tracks { chain out { type filter hook output priority 0; ct state established accept; }; }",
    });
  });
  onTestFinished(() => namespace.close());
  return namespace;
}

function boundSocket(ip: string): { fd: number; address: IpSocketAddress } {
  const asked = ipAddress(ip, 0);
  const fd = checked("socket", socket(domainOf(asked), SOCK_STREAM | SOCK_CLOEXEC, 0));
  onTestFinished(() => void close(fd));
  checked("bind", bindTo(fd, asked));
  const address = localAddressOf(fd);
  if (address.family === "unix") throw new Error("it has an address");
  return { fd, address };
}

/** Connections to one listener, which leaves them in its backlog. */
function connections(ip: string, count: number): readonly Connection[] {
  const { fd: listening, address: to } = boundSocket(ip);
  checked("listen", listen(listening, BACKLOG));
  return Array.from({ length: count }, () => {
    const { fd, address: from } = boundSocket(ip);
    checked("connect", connectTo(fd, to));
    const original = { src: from.ip, srcPort: from.port, dst: to.ip, dstPort: to.port };
    return { fd, original, reply: turned(original) };
  });
}

function turned({ src, srcPort, dst, dstPort }: FlowTuple): FlowTuple {
  return { src: dst, srcPort: dstPort, dst: src, dstPort: srcPort };
}

function setUp(ip: string, count = 1) {
  const namespace = openNamespace();
  const table = namespace.run(openTcpFlowTable);
  onTestFinished(() => table.close());
  const made = namespace.run(() => connections(ip, count));
  const [connection] = made;
  if (connection === undefined) throw new Error("at least one is made");
  const askOne = async (tuple: FlowTuple = connection.original): Promise<TcpFlow> => {
    const [flow] = await table.ask([tuple]);
    if (flow === undefined) throw new Error("it is tracked");
    return flow;
  };
  return { namespace, table, made, connection, askOne };
}

function sendByte(fd: number): void {
  checked("write", write(fd, allocateNative(1).address, 1));
}

describe.each(["v4", "v6"] as const)(
  "tracked TCP flows, %s",
  requires("linux", "root", "ip", "nft"),
  (family) => {
    const ip = LOOPBACK[family];

    test("one is found by either direction; one that is not tracked is not", async () => {
      const { table, connection } = setUp(ip);
      const { original, reply } = connection;
      const stranger = { ...original, dstPort: original.dstPort ^ 1 };
      const [byOriginal, nobody, byReply] = await table.ask([original, stranger, reply]);
      expect(byOriginal).toMatchObject({
        family,
        original,
        reply,
        state: TCP_ESTABLISHED,
        isAssured: true,
        isTranslated: false,
        hasHelper: false,
        adjustsSequences: false,
      });
      expect(byOriginal?.timeoutS).toBeGreaterThan(3600);
      expect(nobody).toBeUndefined();
      expect(byReply).toEqual(byOriginal);
      expect(await table.ask([])).toEqual([]);
    });

    test("flags of both directions are set and cleared, and others stay", async () => {
      const { table, connection, askOne } = setUp(ip);
      const before = await askOne();
      const { beLiberal, maxAckSet } = TCP_FLAG;
      expect(before.flags.original & (beLiberal | maxAckSet)).toBe(maxAckSet);
      const { original, reply } = connection;
      const changes = [{ tuple: original, set: beLiberal, clear: maxAckSet }];
      expect(await table.change(changes)).toBe(1);
      const changed = (flags: number) => (flags | beLiberal) & ~maxAckSet;
      const flags = {
        original: changed(before.flags.original),
        reply: changed(before.flags.reply),
      };
      expect(await askOne()).toMatchObject({ flags, state: TCP_ESTABLISHED, id: before.id });
      expect(await table.change([{ tuple: reply, set: maxAckSet, clear: beLiberal }])).toBe(1);
      expect((await askOne()).flags).toEqual(before.flags);
    });

    test("being liberal outlasts packets; a time-out lasts until the next one", async () => {
      const { table, connection, askOne } = setUp(ip);
      const { fd, reply } = connection;
      const { beLiberal } = TCP_FLAG;
      await table.change([{ tuple: reply, set: beLiberal, clear: 0, timeoutS: 77 }]);
      const { timeoutS } = await askOne();
      expect(timeoutS).toBeGreaterThan(70);
      expect(timeoutS).toBeLessThanOrEqual(77);
      sendByte(fd);
      const after = await askOne();
      expect(after.timeoutS).toBeGreaterThan(77);
      expect(after.flags.original & after.flags.reply & beLiberal).toBe(beLiberal);
    });

    test("a change makes no flow that is not there", async () => {
      const { table, connection } = setUp(ip);
      const stranger = { ...connection.original, dstPort: connection.original.dstPort ^ 1 };
      const change = { set: TCP_FLAG.beLiberal, clear: 0, timeoutS: 60 };
      const tuples = [stranger, connection.reply, stranger];
      expect(await table.change(tuples.map((tuple) => ({ tuple, ...change })))).toBe(1);
      expect(await table.ask([stranger])).toEqual([undefined]);
      expect(await table.change([])).toBe(0);
    });

    test("many are asked for and changed at once, in their order; all are listed", async () => {
      const { table, made } = setUp(ip, 200);
      const tuples = made.flatMap(({ original, reply }) => [
        original,
        reply,
        { ...original, dstPort: original.dstPort ^ 1 },
      ]);
      expect(tuples).toHaveLength(600);
      const flows = await table.ask(tuples);
      const expected = made.flatMap(({ original }) => [original, original, undefined]);
      expect(flows.map((flow) => flow?.original)).toEqual(expected);
      const changes = tuples.map((tuple) => ({ tuple, set: TCP_FLAG.beLiberal, clear: 0 }));
      expect(await table.change(changes)).toBe(400);
      const listed: TcpFlow[] = [];
      await table.list(family, (flow) => listed.push(flow));
      expect(new Set(listed.map(({ original }) => original.srcPort))).toEqual(
        new Set(made.map(({ original }) => original.srcPort)),
      );
      expect(listed.every(({ flags }) => (flags.original & TCP_FLAG.beLiberal) !== 0)).toBe(true);
      const others: TcpFlow[] = [];
      await table.list(OTHERS[family], (flow) => others.push(flow));
      expect(others).toEqual([]);
    });
  },
);
