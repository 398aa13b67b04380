import { expect, test } from "vitest";
import { ERRNO } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { Connection, ConnectionHandler } from "../connection.ts";
import type { StreamFd } from "../fd.ts";
import { NetEventLoop } from "../net-event-loop.ts";
import { MemoryHosts } from "./memory-host.ts";
import { MemoryProvider } from "./memory-provider.ts";
import { type LinkConditions, SimulatedNetwork } from "./simulated-network.ts";

const SERVER = ipAddress("10.0.0.2", 80);

const silentHandler: ConnectionHandler = {
  onReadable: () => undefined,
  onRemoteClosed: () => undefined,
  onFailed: () => undefined,
  onClosed: () => undefined,
  onRemoved: () => undefined,
};

/** Two hosts with a loop each. */
function twoHosts(seed: number, conditions: Partial<LinkConditions> = {}) {
  const network = new SimulatedNetwork({ seed, conditions });
  const hosts = new MemoryHosts(network);
  const loopOn = (name: string, ip: string): NetEventLoop => {
    const net = new NetEventLoop({
      provider: new MemoryProvider(hosts.add(name, [ip])),
      onError: (error) => {
        throw error;
      },
    });
    net.loop.start();
    return net;
  };
  return { network, a: loopOn("a", "10.0.0.1"), b: loopOn("b", "10.0.0.2") };
}

/** Everything that arrives at `b`, which hears one connection. */
function listen(b: NetEventLoop): {
  heard: () => string;
  connection: () => Connection | undefined;
} {
  let heard = "";
  let connection: Connection | undefined;
  b.accept(b.provider.listen(SERVER, { backlog: 8 }), {
    onConnection: (fd) => {
      connection = b.connection(fd, {
        ...silentHandler,
        onReadable: ({ input }) => {
          heard += Buffer.from(input.take()).toString();
        },
      });
    },
  });
  return { heard: () => heard, connection: () => connection };
}

test("bytes take as long as the link is", () => {
  const { network, a, b } = twoHosts(1, { latencyMs: 20 });
  const { heard } = listen(b);
  const client = a.connection(a.provider.connect(SERVER), silentHandler);
  client.write(Buffer.from("hello"));
  network.clock.advance(59);
  expect(client.isOpen).toBe(true);
  expect(heard()).toBe("");
  network.clock.advance(1);
  expect(heard()).toBe("hello");
});

test("with loss and jitter streams are late but whole, and the same seed gives the same run", () => {
  const run = (seed: number): { heard: string; tookMs: number } => {
    const { network, a, b } = twoHosts(seed, { latencyMs: 5, jitterMs: 10, lossRate: 0.3 });
    const { heard } = listen(b);
    const client = a.connection(a.provider.connect(SERVER), silentHandler);
    let expected = "";
    for (let index = 0; index < 50; index += 1) {
      expected += `${index},`;
      client.write(Buffer.from(`${index},`));
      network.clock.advance(20);
    }
    network.clock.runUntil(() => heard().length === expected.length, 60_000);
    expect(heard()).toBe(expected);
    return { heard: heard(), tookMs: network.clock.nowMs() };
  };
  expect(run(42)).toEqual(run(42));
  expect(run(42).tookMs).not.toBe(run(43).tookMs);
});

test("datagrams are lost at the rate of the link", () => {
  const { network, a, b } = twoHosts(3, { lossRate: 0.25 });
  const from = a.provider.bindDatagram(ipAddress("10.0.0.1", 0));
  const to = b.provider.bindDatagram(ipAddress("10.0.0.2", 53));
  const peer = from.peer(to.localAddress());
  let arrived = 0;
  for (let index = 0; index < 1000; index += 1) {
    from.queue(Buffer.from("x"), peer);
    from.flush();
    network.clock.advance(1);
    arrived += to.receive();
  }
  expect(arrived).toBeGreaterThan(700);
  expect(arrived).toBeLessThan(800);
});

test("datagrams leave one after the other at the rate of the link, and a full queue takes no more", () => {
  // 1,000 bytes and the headers take 8.224 ms; the fourth would have to wait for 24.7 ms.
  const { network, a, b } = twoHosts(3, { latencyMs: 5, megabits: 1, queueMs: 20 });
  const from = a.provider.bindDatagram(ipAddress("10.0.0.1", 0));
  const to = b.provider.bindDatagram(ipAddress("10.0.0.2", 53));
  const peer = from.peer(to.localAddress());
  const send = (): void => {
    from.queue(Buffer.alloc(1000), peer);
    from.flush();
  };
  for (let count = 0; count < 5; count += 1) send();
  const arrived = [13, 1, 8, 8, 100].map((ms) => {
    network.clock.advance(ms);
    return Math.max(0, to.receive());
  });
  expect(arrived).toEqual([0, 1, 1, 1, 0]);
  expect(network.overflowed).toBe(2);
  send();
  network.clock.advance(14);
  expect(to.receive()).toBe(1);
});

test("a partition holds bytes back; after it heals they arrive", () => {
  const { network, a, b } = twoHosts(1, { latencyMs: 1 });
  const { heard } = listen(b);
  const client = a.connection(a.provider.connect(SERVER), silentHandler);
  network.clock.advance(10);
  network.partition("b", "a");
  client.write(Buffer.from("held back"));
  network.clock.advance(5000);
  expect(heard()).toBe("");
  expect(client.isOpen).toBe(true);
  network.heal("a", "b");
  network.clock.advance(1000);
  expect(heard()).toBe("held back");
});

test("a partition that lasts ends the connection with ETIMEDOUT", () => {
  const { network, a, b } = twoHosts(1, { latencyMs: 1 });
  listen(b);
  const failures: number[] = [];
  const client = a.connection(a.provider.connect(SERVER), {
    ...silentHandler,
    onFailed: (_connection, result) => void failures.push(result),
  });
  network.clock.advance(10);
  network.partition("a", "b");
  client.write(Buffer.from("lost"));
  network.clock.advance(120_000);
  expect(failures).toEqual([-ERRNO.ETIMEDOUT]);
  const dialled: StreamFd = a.provider.connect(SERVER);
  network.clock.advance(120_000);
  expect(dialled.finishOpen()).toBe(-ERRNO.ETIMEDOUT);
});

test("what is sent to one that has closed comes back as a reset", () => {
  const { network, a, b } = twoHosts(1, { latencyMs: 1 });
  const { connection } = listen(b);
  const failures: number[] = [];
  const client = a.connection(a.provider.connect(SERVER), {
    ...silentHandler,
    onFailed: (_connection, result) => void failures.push(result),
  });
  network.clock.advance(10);
  connection()?.close();
  client.write(Buffer.from("anyone?"));
  network.clock.advance(10);
  expect(failures).toEqual([-ERRNO.ECONNRESET]);
});

test("addresses that no host has, or that are another's, are refused", () => {
  const { a } = twoHosts(1);
  expect(a.provider.connect(ipAddress("10.9.9.9", 1)).finishOpen()).toBe(-ERRNO.ENETUNREACH);
  const foreign = a.provider.listen(SERVER, { backlog: 1 });
  expect(foreign.finishOpen()).toBe(-ERRNO.EADDRNOTAVAIL);
  const wildcard = a.provider.listen(ipAddress("0.0.0.0", 80), { backlog: 1 });
  expect(wildcard.finishOpen()).toBe(0);
});
