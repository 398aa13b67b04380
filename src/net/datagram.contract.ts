import { describe, expect, test } from "vitest";
import { ERRNO } from "../platform/errno.ts";
import type { SocketAddress } from "../platform/socket-address.ts";
import type { DatagramFd, DatagramOptions } from "./fd.ts";
import {
  runScenario,
  type Scenario,
  type ScenarioNet,
  type ScenarioSubject,
  type Watched,
} from "./scenario.fixture.ts";

export interface DatagramContractSubject extends ScenarioSubject {
  readonly name: string;
  /** Where to bind; any free port. */
  readonly address: SocketAddress;
}

/** What every provider's datagram FDs do, where nothing is lost. */
export function describeDatagramContract(subject: DatagramContractSubject): void {
  const check = (name: string, scenario: Scenario): void => {
    test(name, () => runScenario(subject, scenario));
  };
  const open = function* (
    net: ScenarioNet,
    options?: DatagramOptions,
  ): Generator<() => boolean, Watched<DatagramFd>> {
    const watched = net.watch(net.provider.bindDatagram(subject.address, options));
    yield () => watched.fd.finishOpen() !== -ERRNO.EINPROGRESS;
    expect(watched.fd.finishOpen()).toBe(0);
    return watched;
  };

  describe(`${subject.name} datagrams`, () => {
    check("a datagram arrives whole, with its sender", function* (net) {
      const a = yield* open(net);
      const b = yield* open(net);
      expect(a.fd.queue(Buffer.from("hello"), a.fd.peer(b.fd.localAddress()))).toBe(true);
      expect(a.fd.flush()).toBe(1);
      yield () => b.fd.readable;
      expect(b.fd.receive()).toBe(1);
      expect(Buffer.from(b.fd.datagram(0)).toString()).toBe("hello");
      expect(b.fd.sender(0).address).toEqual(a.fd.localAddress());
      expect(b.fd.senderKey(0)).toBe(b.fd.peer(a.fd.localAddress()).key);
      expect(b.fd.receive()).toBe(0);
    });

    check("what was received is forwarded and answered", function* (net) {
      const client = yield* open(net);
      const middle = yield* open(net);
      const server = yield* open(net);
      client.fd.queue(Buffer.from("ping"), client.fd.peer(middle.fd.localAddress()));
      client.fd.flush();
      yield () => middle.fd.readable;
      expect(middle.fd.receive()).toBe(1);
      const back = middle.fd.sender(0);
      expect(middle.fd.forward(0, middle.fd.peer(server.fd.localAddress()))).toBe(true);
      middle.fd.flush();
      yield () => server.fd.readable;
      expect(server.fd.receive()).toBe(1);
      expect(Buffer.from(server.fd.datagram(0)).toString()).toBe("ping");
      middle.fd.queue(Buffer.from("pong"), back);
      middle.fd.flush();
      yield () => client.fd.readable;
      client.fd.receive();
      expect(Buffer.from(client.fd.datagram(0)).toString()).toBe("pong");
    });

    check("a connected one hears its peer only", function* (net) {
      const peer = yield* open(net);
      const other = yield* open(net);
      const connected = yield* open(net, { connectTo: peer.fd.localAddress() });
      const to = connected.fd.localAddress();
      other.fd.queue(Buffer.from("intruder"), other.fd.peer(to));
      other.fd.flush();
      peer.fd.queue(Buffer.from("friend"), peer.fd.peer(to));
      peer.fd.flush();
      yield () => connected.fd.readable;
      expect(connected.fd.receive()).toBe(1);
      expect(Buffer.from(connected.fd.datagram(0)).toString()).toBe("friend");
      connected.fd.queue(Buffer.from("answer"));
      connected.fd.flush();
      yield () => peer.fd.readable;
      peer.fd.receive();
      expect(Buffer.from(peer.fd.datagram(0)).toString()).toBe("answer");
    });

    check("many come in batches, in order", function* (net) {
      const a = yield* open(net);
      const b = yield* open(net);
      const to = a.fd.peer(b.fd.localAddress());
      const total = 150;
      for (let index = 0; index < total; index += 1) {
        if (a.fd.queue(Buffer.from(`n${index}`), to)) continue;
        a.fd.flush();
        a.fd.queue(Buffer.from(`n${index}`), to);
      }
      a.fd.flush();
      const heard: string[] = [];
      yield () => {
        while (b.fd.readable) {
          const count = b.fd.receive();
          for (let index = 0; index < count; index += 1) {
            heard.push(Buffer.from(b.fd.datagram(index)).toString());
          }
        }
        return heard.length === total;
      };
      expect(heard).toEqual(Array.from({ length: total }, (_, index) => `n${index}`));
    });

    check("one that is too long is refused and does not hold up the next", function* (net) {
      const a = yield* open(net);
      const b = yield* open(net);
      const to = a.fd.peer(b.fd.localAddress());
      a.fd.queue(new Uint8Array(65_530), to);
      a.fd.queue(Buffer.from("short"), to);
      a.fd.flush();
      yield () => b.fd.readable;
      b.fd.receive();
      expect(Buffer.from(b.fd.datagram(0)).toString()).toBe("short");
    });
  });
}
