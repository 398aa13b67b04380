import { expect, test } from "vitest";
import { errnoName } from "../platform/errno.ts";
import { ipAddress } from "../platform/socket-address.ts";
import type { Connection, ConnectionHandler } from "./connection.ts";
import { MemoryHosts } from "./memory/memory-host.ts";
import { MemoryProvider } from "./memory/memory-provider.ts";
import { SimulatedNetwork } from "./memory/simulated-network.ts";
import { NetEventLoop } from "./net-event-loop.ts";

const WEB = ipAddress("10.0.0.1", 80);

/** Keeps what it is told, and does what the test wants when bytes arrive. */
class Recorder implements ConnectionHandler {
  readonly told: string[] = [];
  readonly #onReadable: (connection: Connection) => void;

  constructor(onReadable: (connection: Connection) => void = () => undefined) {
    this.#onReadable = onReadable;
  }

  onConnected(): void {
    this.told.push("connected");
  }

  onReadable(connection: Connection): void {
    this.told.push(`readable ${connection.input.size}`);
    this.#onReadable(connection);
  }

  onWritable(): void {
    this.told.push("writable");
  }

  onRemoteClosed(): void {
    this.told.push("remote closed");
  }

  onFailed(_connection: Connection, result: number): void {
    this.told.push(`failed ${errnoName(result)}`);
  }

  onClosed(): void {
    this.told.push("closed");
  }

  onRemoved(): void {
    this.told.push("removed");
  }
}

function setting(options: { readonly maxFds?: number } = {}): {
  network: SimulatedNetwork;
  net: NetEventLoop;
  errors: unknown[];
} {
  const network = new SimulatedNetwork({ seed: 7 });
  const provider = new MemoryProvider(new MemoryHosts(network).add("a", ["10.0.0.1"]));
  const errors: unknown[] = [];
  const net = new NetEventLoop({ provider, onError: (error) => errors.push(error), ...options });
  net.loop.start();
  return { network, net, errors };
}

/** A server whose connections are handled by `serverSide`, and one connection to it. */
function joined(
  { net, network }: ReturnType<typeof setting>,
  serverSide: ConnectionHandler,
  clientSide: ConnectionHandler,
  options: { inputBytes?: number; outputBytes?: number; idleTimeoutMs?: number } = {},
): { client: Connection; server: Connection } {
  let server: Connection | undefined;
  net.accept(net.provider.listen(WEB, { backlog: 16 }), {
    onConnection: (fd) => {
      server = net.connection(fd, serverSide, options);
    },
  });
  const client = net.connection(net.provider.connect(WEB), clientSide, options);
  network.clock.advance(1);
  if (server === undefined) throw new Error("not accepted");
  return { client, server };
}

test("a connection stands, carries bytes, and ends with both ends told", () => {
  const world = setting();
  const serverSide = new Recorder((connection) => connection.write(connection.input.take()));
  const clientSide = new Recorder();
  const { client, server } = joined(world, serverSide, clientSide);
  expect(client.write(Buffer.from("ping"))).toBe(4);
  world.network.clock.advance(1);
  expect(Buffer.from(client.input.take()).toString()).toBe("ping");
  client.closeWrite();
  world.network.clock.advance(1);
  server.close();
  world.network.clock.advance(1);
  expect(serverSide.told).toEqual(["readable 4", "remote closed", "closed"]);
  expect(clientSide.told).toEqual(["connected", "readable 4", "remote closed"]);
  expect(world.errors).toEqual([]);
});

test("what is written before the connection stands is sent when it does", () => {
  const world = setting();
  const { net, network } = world;
  const serverSide = new Recorder();
  net.accept(net.provider.listen(WEB, { backlog: 16 }), {
    onConnection: (fd) => void net.connection(fd, serverSide),
  });
  const client = net.connection(net.provider.connect(WEB), new Recorder());
  client.write(Buffer.from("early"));
  client.closeWrite();
  network.clock.advance(1);
  expect(serverSide.told).toEqual(["readable 5", "remote closed"]);
});

test("a reader that does not read stops the writer, and lets it go on when it does", () => {
  const world = setting();
  const clientSide = new Recorder();
  const sizes = { inputBytes: 1024, outputBytes: 1024 };
  const { client, server } = joined(world, new Recorder(), clientSide, sizes);
  let sent = 0;
  const push = (): void => {
    for (;;) {
      const taken = client.write(new Uint8Array(1000));
      sent += taken;
      if (taken < 1000) return;
      world.network.clock.advance(1);
    }
  };
  push();
  // The window of the network, and the two buffers: no more is held for a slow reader.
  expect(sent).toBe(65_536 + 1024 + 1024);
  let received = 0;
  for (let round = 0; round < 200; round += 1) {
    received += server.input.take().length;
    world.network.clock.advance(1);
  }
  expect(received).toBe(sent);
  expect(clientSide.told).toContain("writable");
});

test("the input of one connection can be the output of another: bytes pass by themselves", () => {
  const world = setting();
  const { net, network } = world;
  const backend = ipAddress("10.0.0.1", 81);
  const backendSide = new Recorder((connection) => connection.write(connection.input.take()));
  net.accept(net.provider.listen(backend, { backlog: 16 }), {
    onConnection: (fd) => void net.connection(fd, backendSide),
  });
  net.accept(net.provider.listen(WEB, { backlog: 16 }), {
    onConnection: (fd) => {
      const front = net.connection(fd, new Recorder());
      net.joined(net.provider.connect(backend), new Recorder(), front);
    },
  });
  const client = net.connection(net.provider.connect(WEB), new Recorder());
  client.write(Buffer.from("through the middle"));
  network.clock.advance(1);
  expect(Buffer.from(client.input.take()).toString()).toBe("through the middle");
});

test("a refused connection fails and is closed", () => {
  const { net, network } = setting();
  const refused = new Recorder();
  net.connection(net.provider.connect(WEB), refused);
  network.clock.advance(1);
  expect(refused.told).toEqual(["failed ECONNREFUSED", "closed"]);
  const unreachable = new Recorder();
  net.connection(net.provider.connect(ipAddress("10.9.9.9", 80)), unreachable);
  expect(unreachable.told).toEqual([]);
  network.clock.advance(1);
  expect(unreachable.told).toEqual(["failed ENETUNREACH", "closed"]);
});

test("a reset reaches the other side as a failure", () => {
  const world = setting();
  const serverSide = new Recorder();
  const { client } = joined(world, serverSide, new Recorder());
  client.reset();
  world.network.clock.advance(1);
  expect(serverSide.told).toEqual(["failed ECONNRESET", "closed"]);
});

test("an idle connection times out; activity puts that off, with one timer", () => {
  const world = setting();
  const clientSide = new Recorder();
  const { client } = joined(world, new Recorder(({ input }) => void input.take()), clientSide, {
    idleTimeoutMs: 100,
  });
  for (let round = 0; round < 5; round += 1) {
    world.network.clock.advance(80);
    client.write(Buffer.from("."));
  }
  expect(client.isOpen).toBe(true);
  const { timers } = world.net.loop.counters.read();
  expect(timers).toBeLessThan(10);
  world.network.clock.advance(99);
  expect(client.isOpen).toBe(true);
  world.network.clock.advance(2);
  expect(clientSide.told).toEqual(["connected", "failed ETIMEDOUT", "closed"]);
});

test("the end of the loop is told to connections, once", () => {
  const world = setting();
  const serverSide = new Recorder();
  const clientSide = new Recorder();
  const { client } = joined(world, serverSide, clientSide);
  world.net.loop.close();
  client.close();
  expect(clientSide.told).toEqual(["connected", "removed"]);
  expect(serverSide.told).toEqual(["removed"]);
});

test("accepting pauses at the cap and goes on when there is room", () => {
  const world = setting({ maxFds: 4 });
  const { net, network } = world;
  const paused: number[] = [];
  const accepted: Connection[] = [];
  net.accept(net.provider.listen(WEB, { backlog: 16 }), {
    onConnection: (fd) => void accepted.push(net.connection(fd, new Recorder())),
    onPaused: (reason) => void paused.push(reason),
  });
  const clients = Array.from({ length: 6 }, () => net.provider.connect(WEB));
  network.clock.advance(1);
  expect(accepted).toHaveLength(3);
  expect(paused[0]).toBe(0);
  for (const connection of accepted) connection.close();
  network.clock.advance(60);
  expect(accepted).toHaveLength(6);
  expect(clients.every((fd) => fd.finishOpen() === 0)).toBe(true);
});

test("connections are listed with what passed through them", () => {
  const world = setting();
  const { client } = joined(world, new Recorder(), new Recorder());
  client.write(Buffer.from("12345"));
  world.network.clock.advance(1);
  const connections = world.net.loop.channels().filter(({ kind }) => kind === "connection");
  expect(connections).toMatchObject([
    { bytesIn: 0, bytesOut: 5, remote: WEB },
    { bytesIn: 5, bytesOut: 0, local: WEB },
  ]);
  const [first] = connections;
  if (first !== undefined) world.net.loop.dismiss(first.id);
  expect(client.isClosed).toBe(true);
});
