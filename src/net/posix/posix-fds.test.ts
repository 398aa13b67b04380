import { existsSync } from "node:fs";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { ERRNO } from "../../platform/errno.ts";
import { IPPROTO_TCP, TCP_NODELAY } from "../../platform/linux/abi.ts";
import { openEventFd } from "../../platform/linux/event-fd.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { getsockopt, send } from "../../platform/linux/socket-calls.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { FAILED, type Fd, READABLE, type StreamFd } from "../fd.ts";
import {
  readAll,
  runScenario,
  type ScenarioNet,
  type Watched,
  writeText,
} from "../scenario.fixture.ts";
import type { ChannelId, ReadyHandler } from "../selector-event-loop.ts";
import { DescriptorLedger } from "./descriptor-ledger.ts";
import { PosixProvider } from "./posix-provider.ts";

const MAX_DESCRIPTORS = 65_536;
/** send(2): one byte that goes before the others. */
const MSG_OOB = 1;
const LOOPBACK = ipAddress("127.0.0.1", 0);

function makeProvider(memory = DescriptorLedger.allocate(MAX_DESCRIPTORS)): PosixProvider {
  return new PosixProvider({ ledgerMemory: memory });
}

const subject = {
  makeProvider,
  run: async (loop: { run(): void }): Promise<void> => loop.run(),
};

/** Frees what nothing refers to, and uses its memory for something else. */
function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  Array.from({ length: 1000 }, () => allocateNative(112).bytes.fill(0xff));
}

/** Both ends of a connection, in the loop of the scenario. */
function* connected(net: ScenarioNet): Generator<() => boolean, [StreamFd, StreamFd]> {
  const server = net.watch(net.provider.listen(LOOPBACK, { backlog: 8 }));
  const client = net.watch(net.provider.connect(server.fd.localAddress()));
  let accepted: StreamFd | undefined;
  yield () => {
    accepted ??= server.fd.accept();
    return accepted !== undefined && client.fd.finishOpen() === 0;
  };
  if (accepted === undefined) throw new Error("not accepted");
  return [client.fd, net.watch(accepted).fd];
}

/** Closes its rival when it is told of bytes. */
class Rival implements ReadyHandler {
  told = 0;
  rival: Rival | undefined;
  successor: Watched<Fd> | undefined;
  readonly #net: ScenarioNet;
  readonly #fd: StreamFd;
  readonly #id: ChannelId;

  constructor(net: ScenarioNet, fd: StreamFd) {
    this.#net = net;
    this.#fd = fd;
    // The scenario watched it so far.
    fd.detach();
    this.#id = net.loop.add(fd, this);
  }

  onReady(ready: number): void {
    if ((ready & READABLE) === 0) return;
    this.told += 1;
    this.rival?.close();
    this.successor = this.#net.watch(this.#net.provider.bindDatagram(LOOPBACK));
  }

  onRemoved(): void {
    this.close();
  }

  close(): void {
    this.#fd.close();
    this.#net.loop.remove(this.#id);
  }
}

describe("posix FDs", requires("linux"), () => {
  test("bytes are spliced from one connection to another through a pipe", () =>
    runScenario(subject, function* (net) {
      const [source, from] = yield* connected(net);
      const [to, sink] = yield* connected(net);
      const pipe = net.provider.pipes?.borrow();
      const [fromEnd, toEnd] = [from.splice, to.splice];
      if (pipe === undefined || fromEnd === undefined || toEnd === undefined) {
        throw new Error("posix has pipes");
      }
      expect(pipe.fill(fromEnd, 1000)).toBe(-ERRNO.EAGAIN);
      expect(from.readable).toBe(false);
      writeText(net, source, "x".repeat(5000));
      yield () => from.readable;
      let moved = 0;
      yield () => {
        while (from.readable && moved < 5000) {
          const count = pipe.fill(fromEnd, 1 << 20);
          if (count > 0) moved += pipe.drain(toEnd);
        }
        return moved === 5000;
      };
      expect(pipe.bufferedBytes).toBe(0);
      net.provider.pipes?.giveBack(pipe);
      expect(net.provider.pipes?.borrow()).toBe(pipe);
      let heard = 0;
      yield () => {
        if (sink.readable) heard += readAll(net, sink).bytes.length;
        return heard === 5000;
      };
      source.shutdownWrite();
      yield () => from.readable && pipe.fill(fromEnd, 1000) === 0;
      net.provider.pipes?.giveBack(pipe);
    }));

  test("a pipe that still holds bytes is thrown away, not lent again", () =>
    runScenario(subject, function* (net) {
      const [source, from] = yield* connected(net);
      const pipe = net.provider.pipes?.borrow();
      const end = from.splice;
      if (pipe === undefined || end === undefined) throw new Error("posix has pipes");
      writeText(net, source, "left over");
      yield () => from.readable;
      expect(pipe.fill(end, 1000)).toBe(9);
      net.provider.pipes?.giveBack(pipe);
      expect(net.provider.pipes?.borrow()).not.toBe(pipe);
    }));

  test("a connection that is handed off goes on in another loop, and only there", () => {
    const memory = DescriptorLedger.allocate(MAX_DESCRIPTORS);
    const other = makeProvider(memory);
    const run = runScenario(subject, function* (net) {
      const [client, accepted] = yield* connected(net);
      accepted.detach();
      const handOff = accepted.handOff();
      if (handOff === undefined) throw new Error("posix hands off");
      expect(accepted.isClosed).toBe(true);
      expect(writeText(net, accepted, "no")).toBe(-ERRNO.EBADF);
      const adopted = other.adopt.stream(handOff);
      expect(writeText(net, adopted, "from the other loop")).toBe(19);
      expect(new DescriptorLedger(memory).open()).toContain(handOff.descriptor);
      yield () => client.readable;
      expect(Buffer.from(readAll(net, client).bytes).toString()).toBe("from the other loop");
      expect(adopted.remoteAddress()).toEqual(client.localAddress());
      adopted.close();
    });
    return run.finally(() => other.close());
  });

  test("descriptors of what is opened are in the ledger until it is closed", () => {
    const memory = DescriptorLedger.allocate(MAX_DESCRIPTORS);
    const ledger = new DescriptorLedger(memory);
    const provider = makeProvider(memory);
    const atFirst = ledger.open().length;
    const server = provider.listen(LOOPBACK, { backlog: 8 });
    const client = provider.connect(server.localAddress());
    const udp = provider.bindDatagram(LOOPBACK);
    const pipe = provider.pipes.borrow();
    expect(ledger.open()).toHaveLength(atFirst + 5);
    for (const fd of [server, client, udp]) fd.close();
    if (pipe !== undefined) provider.pipes.giveBack(pipe);
    provider.close();
    expect(ledger.open()).toEqual([]);
  });

  test("what a dead loop had open is closed by its ledger", () => {
    const ledger = new DescriptorLedger(DescriptorLedger.allocate(MAX_DESCRIPTORS));
    const events = [openEventFd(), openEventFd(), openEventFd()];
    for (const descriptor of events) ledger.note(descriptor);
    const [kept = -1] = events;
    ledger.forget(kept);
    expect(ledger.closeAll()).toBe(2);
    expect(events.map((fd) => existsSync(`/proc/self/fd/${fd}`))).toEqual([true, false, false]);
    ledger.close(kept);
  });

  test("an event for what was closed in the same round reaches nobody", () =>
    runScenario(subject, function* (net) {
      const [a, aPeer] = yield* connected(net);
      const [b, bPeer] = yield* connected(net);
      // Both have an event in one batch; the first closes the other, and a new FD takes its slot
      // and its descriptor at once.
      const rivals = [new Rival(net, aPeer), new Rival(net, bPeer)];
      const [first, second] = rivals;
      if (first === undefined || second === undefined) throw new Error("two rivals");
      first.rival = second;
      second.rival = first;
      writeText(net, a, "x");
      writeText(net, b, "x");
      let rounds = 0;
      yield () => {
        net.loop.nextTick(() => net.advance());
        rounds += 1;
        return rounds > 10;
      };
      expect(rivals.map(({ told }) => told).sort()).toEqual([0, 1]);
      // A datagram FD, which nothing has come for.
      expect(first.successor?.events ?? second.successor?.events).toEqual([]);
    }));

  test("a reset after the end is FAILED, with the error that Linux has for it", () =>
    runScenario(subject, function* (net) {
      const server = net.watch(net.provider.listen(LOOPBACK, { backlog: 8 }));
      const client = net.watch(net.provider.connect(server.fd.localAddress()));
      let fd: StreamFd | undefined;
      yield () => {
        fd ??= server.fd.accept();
        return fd !== undefined && client.fd.finishOpen() === 0;
      };
      if (fd === undefined) throw new Error("not accepted");
      const accepted = net.watch(fd);
      client.fd.shutdownWrite();
      yield () => accepted.fd.readable && readAll(net, accepted.fd).last === 0;
      client.fd.reset();
      yield () => accepted.events.some((ready) => (ready & FAILED) !== 0);
      expect(accepted.fd.takeError()).toBe(-ERRNO.EPIPE);
      expect(accepted.fd.takeError()).toBe(0);
    }));

  test("a read that takes all before the end says so, and one that does not, does not", () =>
    runScenario(subject, function* (net) {
      const [client, accepted] = yield* connected(net);
      writeText(net, accepted, "first");
      yield () => client.readable;
      expect(Buffer.from(readAll(net, client).bytes).toString()).toBe("first");
      expect(client.hasReadAll).toBe(false);
      writeText(net, accepted, "and last");
      accepted.shutdownWrite();
      yield () => client.readable;
      const region = net.provider.allocate(100);
      expect(client.read(region, 0, 3)).toBe(3);
      expect(client.hasReadAll).toBe(false);
      expect(client.read(region, 0, 100)).toBe(5);
      expect(client.hasReadAll).toBe(true);
      expect(client.read(region, 0, 100)).toBe(0);
    }));

  test("bytes behind urgent ones are not taken for missing", () =>
    runScenario(subject, function* (net) {
      const [client, accepted] = yield* connected(net);
      const descriptor = accepted.splice?.descriptor ?? -1;
      const urgent = net.provider.allocate(1);
      writeText(net, accepted, "before");
      expect(send(descriptor, urgent.address, 1, MSG_OOB)).toBe(1);
      writeText(net, accepted, "after");
      accepted.shutdownWrite();
      yield () => client.readable;
      const region = net.provider.allocate(100);
      let heard = "";
      while (client.readable && !(client.hasReadAll ?? false)) {
        const count = client.read(region, 0, 100);
        if (count > 0) heard += Buffer.from(region.bytes.subarray(0, count)).toString();
      }
      expect(heard).toBe("beforeafter");
    }));

  test("small writes leave at once: from the second one on by TCP_NODELAY", () =>
    runScenario(subject, function* (net) {
      const [client] = yield* connected(net);
      const hasNoDelay = (): boolean => {
        const value = allocateNative(8);
        value.view.setInt32(4, 4, true);
        const { address } = value;
        const { descriptor = -1 } = client.splice ?? {};
        expect(getsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, address, address + 4)).toBe(0);
        return value.view.getInt32(0, true) !== 0;
      };
      writeText(net, client, "a");
      expect(hasNoDelay()).toBe(false);
      writeText(net, client, "b");
      expect(hasNoDelay()).toBe(true);
    }));

  test("a connection that can not be made says why at once", () => {
    const provider = makeProvider();
    const notOurs = ipAddress("192.0.2.1", 0);
    const failed = provider.connect(ipAddress("127.0.0.1", 1), { from: notOurs });
    expect(failed.finishOpen()).toBe(-ERRNO.EADDRNOTAVAIL);
    expect(failed.isClosed).toBe(true);
    provider.close();
  });
});

describe("datagrams", requires("linux"), () => {
  test("answers of a socket on all addresses come from the one that was called", () =>
    runScenario(subject, function* (net) {
      const server = net.watch(net.provider.bindDatagram(ipAddress("0.0.0.0", 0)));
      const at = server.fd.localAddress();
      if (at.family === "unix") throw new Error("no port");
      // Connected: it hears nobody else.
      const connectTo = ipAddress("127.0.0.77", at.port);
      const client = net.watch(net.provider.bindDatagram(LOOPBACK, { connectTo }));
      client.fd.queue(Buffer.from("ping"));
      client.fd.flush();
      yield () => server.fd.readable;
      server.fd.receive();
      server.fd.queue(Buffer.from("pong"), server.fd.sender(0));
      server.fd.flush();
      yield () => client.fd.readable;
      expect(client.fd.receive()).toBe(1);
      expect(Buffer.from(client.fd.datagram(0)).toString()).toBe("pong");
    }));

  test("where they go is known until they are sent, though nobody else remembers it", () =>
    runScenario(subject, function* (net) {
      const [from, to] = [1, 2].map(() => net.watch(net.provider.bindDatagram(LOOPBACK)));
      if (from === undefined || to === undefined) throw new Error("no sockets");
      for (let index = 0; index < 32; index += 1) {
        from.fd.queue(Buffer.from(`n${index}`), from.fd.peer(to.fd.localAddress()));
      }
      collectGarbage();
      expect(from.fd.flush()).toBe(32);
      yield () => to.fd.readable;
      expect(to.fd.receive()).toBe(32);
    }));
});
