import { describe, expect, test } from "vitest";
import { ERRNO } from "../platform/errno.ts";
import type { SocketAddress } from "../platform/socket-address.ts";
import type { ServerFd, StreamFd } from "./fd.ts";
import {
  readAll,
  runScenario,
  type Scenario,
  type ScenarioNet,
  type ScenarioSubject,
  type Watched,
  writeText,
} from "./scenario.fixture.ts";

export interface FdContractSubject extends ScenarioSubject {
  readonly name: string;
  /** Where to listen; any free port. */
  readonly address: SocketAddress;
  /** Nobody listens there. */
  readonly deadAddress: SocketAddress;
  /** What a peer reads after a reset; 0 (the end) only where the platform knows no reset. */
  readonly afterReset?: number;
}

const BACKLOG = 128;

interface Pair {
  readonly server: Watched<ServerFd>;
  readonly client: Watched<StreamFd>;
  readonly accepted: Watched<StreamFd>;
}

/** What every provider's streams and servers do. It knows no descriptor and no splice. */
export function describeFdContract(subject: FdContractSubject): void {
  const check = (name: string, scenario: Scenario): void => {
    test(name, () => runScenario(subject, scenario));
  };
  const listen = function* (net: ScenarioNet): Generator<() => boolean, Watched<ServerFd>> {
    const server = net.watch(net.provider.listen(subject.address, { backlog: BACKLOG }));
    yield () => server.fd.finishOpen() !== -ERRNO.EINPROGRESS;
    expect(server.fd.finishOpen()).toBe(0);
    return server;
  };
  const pair = function* (net: ScenarioNet): Generator<() => boolean, Pair> {
    const server = yield* listen(net);
    const client = net.watch(net.provider.connect(server.fd.localAddress()));
    yield () => client.fd.finishOpen() !== -ERRNO.EINPROGRESS;
    expect(client.fd.finishOpen()).toBe(0);
    let fd: StreamFd | undefined;
    yield () => {
      fd ??= server.fd.accept();
      return fd !== undefined;
    };
    if (fd === undefined) throw new Error("not accepted");
    return { server, client, accepted: net.watch(fd) };
  };

  describe(`${subject.name} FDs`, () => {
    check("connect and accept agree on both addresses", function* (net) {
      const { server, client, accepted } = yield* pair(net);
      expect(accepted.fd.localAddress()).toEqual(server.fd.localAddress());
      expect(client.fd.remoteAddress()).toEqual(server.fd.localAddress());
      expect(accepted.fd.remoteAddress()).toEqual(client.fd.localAddress());
      expect(client.fd.writable && accepted.fd.writable).toBe(true);
      expect(client.fd.readable || accepted.fd.readable).toBe(false);
    });

    check("bytes pass both ways", function* (net) {
      const { client, accepted } = yield* pair(net);
      expect(writeText(net, client.fd, "question")).toBe(8);
      yield () => accepted.fd.readable;
      expect(Buffer.from(readAll(net, accepted.fd).bytes).toString()).toBe("question");
      writeText(net, accepted.fd, "answer");
      yield () => client.fd.readable;
      expect(Buffer.from(readAll(net, client.fd).bytes).toString()).toBe("answer");
    });

    check("nothing to read is EAGAIN and clears the flag", function* (net) {
      const { client, accepted } = yield* pair(net);
      expect(readAll(net, client.fd).last).toBe(-ERRNO.EAGAIN);
      writeText(net, accepted.fd, "x");
      yield () => client.fd.readable;
      readAll(net, client.fd);
      expect(readAll(net, client.fd).last).toBe(-ERRNO.EAGAIN);
      expect(client.fd.readable).toBe(false);
    });

    check("a reader that waits makes the writer wait, and nothing is lost", function* (net) {
      const { client, accepted } = yield* pair(net);
      const chunk = net.provider.allocate(50_021);
      for (const [index] of chunk.bytes.entries()) chunk.bytes[index] = index % 251;
      let sent = 0;
      let received = 0;
      let sum = 0;
      const expectedSum = (count: number): number => {
        let total = 0;
        for (let index = 0; index < count; index += 1) total += (index % 50_021) % 251;
        return total;
      };
      const push = (): void => {
        while (client.fd.writable) {
          const start = sent % chunk.bytes.length;
          const count = client.fd.write(chunk, start, chunk.bytes.length - start);
          if (count > 0) sent += count;
        }
      };
      push();
      yield () => accepted.fd.readable;
      // Nobody reads: at some time the writer must stop.
      expect(client.fd.writable).toBe(false);
      const stoppedAt = sent;
      yield () => {
        if (accepted.fd.readable) {
          const { bytes } = readAll(net, accepted.fd);
          received += bytes.length;
          for (const byte of bytes) sum += byte;
        }
        if (sent < stoppedAt + 500_000) push();
        return received === sent && sent >= stoppedAt + 500_000;
      };
      expect(sum).toBe(expectedSum(received));
    });

    check("a connection that nobody wants is refused", function* (net) {
      const client = net.watch(net.provider.connect(subject.deadAddress));
      yield () => client.fd.finishOpen() !== -ERRNO.EINPROGRESS;
      expect(client.fd.finishOpen()).toBe(-ERRNO.ECONNREFUSED);
    });

    check("an address that is taken is refused", function* (net) {
      const server = yield* listen(net);
      const second = net.watch(net.provider.listen(server.fd.localAddress(), { backlog: BACKLOG }));
      yield () => second.fd.finishOpen() !== -ERRNO.EINPROGRESS;
      expect(second.fd.finishOpen()).toBe(-ERRNO.EADDRINUSE);
    });

    check("half-close: the end passes one way, bytes still pass the other", function* (net) {
      const { client, accepted } = yield* pair(net);
      writeText(net, client.fd, "last words");
      expect(client.fd.shutdownWrite()).toBe(0);
      let heard = "";
      let last = -1;
      yield () => {
        const got = readAll(net, accepted.fd);
        heard += Buffer.from(got.bytes).toString();
        last = got.last;
        return last === 0;
      };
      expect(heard).toBe("last words");
      writeText(net, accepted.fd, "reply");
      yield () => client.fd.readable;
      expect(Buffer.from(readAll(net, client.fd).bytes).toString()).toBe("reply");
      accepted.fd.shutdownWrite();
      yield () => client.fd.readable && readAll(net, client.fd).last === 0;
    });

    check("bytes and the end in one event are both seen through the flag", function* (net) {
      const { client, accepted } = yield* pair(net);
      writeText(net, client.fd, "both");
      client.fd.shutdownWrite();
      let heard = "";
      let ended = false;
      yield () => {
        while (accepted.fd.readable && !ended) {
          const got = readAll(net, accepted.fd);
          heard += Buffer.from(got.bytes).toString();
          ended = got.last === 0;
        }
        return ended;
      };
      expect(heard).toBe("both");
      expect(accepted.fd.readable).toBe(false);
    });

    check("one that still writes learns of a reset after the end", function* (net) {
      const { client, accepted } = yield* pair(net);
      client.fd.shutdownWrite();
      yield () => accepted.fd.readable && readAll(net, accepted.fd).last === 0;
      client.fd.reset();
      net.close(client);
      let result = 0;
      yield () => {
        if (accepted.fd.writable) result = writeText(net, accepted.fd, "anyone?");
        net.loop.nextTick(() => net.advance());
        return result < 0 && result !== -ERRNO.EAGAIN;
      };
      expect([-ERRNO.EPIPE, -ERRNO.ECONNRESET]).toContain(result);
    });

    check("close still delivers what was written", function* (net) {
      const { client, accepted } = yield* pair(net);
      const text = "x".repeat(40_000);
      writeText(net, client.fd, text);
      net.close(client);
      let count = 0;
      yield () => {
        const got = readAll(net, accepted.fd);
        count += got.bytes.length;
        return got.last === 0;
      };
      expect(count).toBe(text.length);
    });

    check("reset is ECONNRESET for the peer, where there is such a thing", function* (net) {
      const { client, accepted } = yield* pair(net);
      client.fd.reset();
      net.close(client);
      yield () => accepted.fd.readable;
      expect(readAll(net, accepted.fd).last).toBe(subject.afterReset ?? -ERRNO.ECONNRESET);
      expect(accepted.fd.readable).toBe(false);
    });

    check("writing to a peer that is gone fails in the end", function* (net) {
      const { client, accepted } = yield* pair(net);
      net.close(accepted);
      let result = 0;
      yield () => {
        if (client.fd.writable && result >= 0) result = writeText(net, client.fd, "anyone?");
        net.loop.nextTick(() => net.advance());
        return result < 0;
      };
      expect([-ERRNO.EPIPE, -ERRNO.ECONNRESET]).toContain(result);
    });

    check("what was not read is not told again; new bytes are", function* (net) {
      const { client, accepted } = yield* pair(net);
      writeText(net, client.fd, "one");
      yield () => accepted.fd.readable;
      const told = accepted.events.length;
      let rounds = 0;
      yield () => {
        net.loop.nextTick(() => net.advance());
        rounds += 1;
        return rounds > 10;
      };
      expect(accepted.events.length).toBe(told);
      readAll(net, accepted.fd);
      writeText(net, client.fd, "two");
      yield () => accepted.events.length > told;
      expect(accepted.fd.readable).toBe(true);
    });

    check("an FD that is put into the loop late is told what happened before", function* (net) {
      const server = yield* listen(net);
      const client = net.watch(net.provider.connect(server.fd.localAddress()));
      yield () => client.fd.finishOpen() === 0;
      let fd: StreamFd | undefined;
      yield () => {
        fd ??= server.fd.accept();
        return fd !== undefined;
      };
      writeText(net, client.fd, "early");
      let rounds = 0;
      yield () => {
        net.loop.nextTick(() => net.advance());
        rounds += 1;
        return rounds > 10;
      };
      if (fd === undefined) throw new Error("not accepted");
      const accepted = net.watch(fd);
      yield () => accepted.fd.readable;
      expect(Buffer.from(readAll(net, accepted.fd).bytes).toString()).toBe("early");
    });

    check("connections that wait are told of until all are accepted", function* (net) {
      const server = yield* listen(net);
      const clients = Array.from({ length: 20 }, () =>
        net.watch(net.provider.connect(server.fd.localAddress())),
      );
      yield () => clients.every(({ fd }) => fd.finishOpen() === 0);
      let accepted = 0;
      let told = 0;
      yield () => {
        // One for each event, although more wait.
        if (server.events.length > told) {
          told = server.events.length;
          const fd = server.fd.accept();
          if (fd !== undefined) {
            accepted += 1;
            fd.close();
          }
        }
        return accepted === clients.length;
      };
      expect(server.fd.accept()).toBeUndefined();
      expect(server.fd.acceptError).toBe(0);
    });

    check("a server that is closed takes no more connections", function* (net) {
      const server = yield* listen(net);
      const address = server.fd.localAddress();
      net.close(server);
      const client = net.watch(net.provider.connect(address));
      yield () => client.fd.finishOpen() !== -ERRNO.EINPROGRESS;
      expect(client.fd.finishOpen()).toBe(-ERRNO.ECONNREFUSED);
    });

    check("what is closed answers EBADF, and closing again does nothing", function* (net) {
      const { client } = yield* pair(net);
      net.close(client);
      net.close(client);
      expect(client.fd.isClosed).toBe(true);
      expect(client.fd.readable || client.fd.writable).toBe(false);
      expect(writeText(net, client.fd, "x")).toBe(-ERRNO.EBADF);
      expect(readAll(net, client.fd).last).toBe(-ERRNO.EBADF);
    });

    check("an FD that left the loop is told nothing", function* (net) {
      const { client, accepted } = yield* pair(net);
      const told = accepted.events.length;
      if (accepted.id !== undefined) net.loop.remove(accepted.id);
      writeText(net, client.fd, "unheard");
      client.fd.shutdownWrite();
      let rounds = 0;
      yield () => {
        net.loop.nextTick(() => net.advance());
        rounds += 1;
        return rounds > 10;
      };
      expect(accepted.events.length).toBe(told);
    });
  });
}
