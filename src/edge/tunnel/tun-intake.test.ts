import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { openDatagram } from "../../net/posix/open-socket.ts";
import { AF_UNIX, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK } from "../../platform/linux/abi.ts";
import { close, read, write } from "../../platform/linux/io-calls.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { socketpair } from "../../platform/linux/socket-calls.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import { forceBuffers } from "../../platform/linux/socket-options.ts";
import { VNET_BYTES } from "../../platform/linux/tun-device.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { packetOf } from "../../wire/ip/packets.fixture.ts";
import { FlowTable } from "../flows/flow-table.ts";
import { PacketRouter } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { ServiceTable } from "../table/service-table.ts";
import { MAX_CHUNKS, Outgoing } from "./outgoing.ts";
import type { Peer } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";
import { Session, type SessionMode } from "./session.ts";
import { TunIntake } from "./tun-intake.ts";
import { TunWriter } from "./tun-writer.ts";
import { FAST_HEADER_BYTES, SECURE_OVERHEAD_BYTES } from "./wire-form.ts";

const ENDS = { source: "10.18.0.2", destination: "10.18.1.2" } as const;
const TCP_V4 = 1;
const TCP_HEADERS = 40;
const OVERHEAD: Readonly<Record<SessionMode, number>> = {
  fast: FAST_HEADER_BYTES,
  secure: SECURE_OVERHEAD_BYTES,
};

interface Virtio {
  readonly flags?: number;
  readonly type?: number;
  readonly headerBytes?: number;
  readonly size?: number;
  readonly start?: number;
  readonly offset?: number;
}

/** A node with the peer b; what stands for the TUN is a pair of sockets, and the peer is a socket of loopback. */
class World {
  readonly router: PacketRouter<Peer>;
  readonly intake: TunIntake;
  readonly peer: Peer;
  readonly #memory = allocateNative(65_600);
  readonly #kernel: number;
  readonly #there: number;

  constructor(mode: SessionMode) {
    const [own, there] = [openLoopback(), openLoopback()];
    const ends = allocateNative(8);
    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, ends.address);
    const [tun, kernel] = [ends.view.getInt32(0, true), ends.view.getInt32(4, true)];
    [this.#kernel, this.#there] = [kernel, there];
    const book = new PeerBook(["10.18.0.0/26"]);
    const endpoint = localAddressOf(there);
    if (endpoint.family === "unix") throw new Error("it has no port");
    const spec = { node: "b", subnets: ["10.18.1.0/26", "fc00::100/120"], publicKey: "b" };
    this.peer = book.set({ ...spec, endpoint, modes: [mode] }).peer;
    this.peer.session = sessionOf(mode);
    book.addSession(this.peer.session);
    this.router = new PacketRouter<Peer>({
      table: new ServiceTable(),
      flows: new FlowTable({ maxFlows: 10 }),
      routes: book.routes,
      serviceRanges: new PrefixMap<true>(),
      observed: { roundTripMs: () => undefined },
      hairpin: { v4: undefined, v6: undefined },
      peerOf: (node) => book.get(node),
    });
    this.intake = new TunIntake({
      descriptor: tun,
      router: this.router,
      outgoing: new Outgoing(own, () => undefined),
      writer: new TunWriter(tun),
      mtu: 1400,
      onUnknown: () => undefined,
      onUnready: () => undefined,
    });
    onTestFinished(() => {
      for (const session of book.sessions) book.dropSession(session);
      for (const descriptor of [own, there, tun, kernel]) close(descriptor);
    });
  }

  /** The kernel gives a packet to the TUN: the datagrams that the peer gets of it. */
  give(packet: Uint8Array, virtio: Virtio = {}): readonly Buffer[] {
    const { view, bytes, address } = this.#memory;
    view.setUint8(0, virtio.flags ?? 1);
    view.setUint8(1, virtio.type ?? 0);
    view.setUint16(2, virtio.headerBytes ?? 0, true);
    view.setUint16(4, virtio.size ?? 0, true);
    view.setUint16(6, virtio.start ?? 20, true);
    view.setUint16(8, virtio.offset ?? 16, true);
    bytes.set(packet, VNET_BYTES);
    expect(write(this.#kernel, address, VNET_BYTES + packet.length)).toBeGreaterThan(0);
    expect(this.intake.read(0)).toBe(0);
    return this.#received(this.#there);
  }

  /** What the kernel was told, with the virtio header. */
  told(): readonly Buffer[] {
    return this.#received(this.#kernel);
  }

  #received(descriptor: number): readonly Buffer[] {
    const all: Buffer[] = [];
    for (;;) {
      const count = read(descriptor, this.#memory.address, this.#memory.bytes.length);
      if (count < 0) return all;
      all.push(Buffer.from(this.#memory.bytes.subarray(0, count)));
    }
  }
}

/** Datagrams come one by one, and all of them have room. */
function openLoopback(): number {
  const { descriptor } = openDatagram(ipAddress("127.0.0.1", 0), {});
  forceBuffers(descriptor, 8_388_608);
  return descriptor;
}

function sessionOf(mode: SessionMode): Session {
  const key = new Uint8Array(32).fill(3);
  return new Session({
    node: "b",
    mode,
    isInitiator: true,
    createdMs: 0,
    localIndex: 1,
    remoteIndex: 2,
    sealing: new AeadKey(loadAead(), key, "seal"),
    opening: new AeadKey(loadAead(), key, "open"),
  });
}

function tcp(byteCount: number): Buffer {
  const payload = Buffer.from(Array.from({ length: byteCount }, (_, index) => index % 251));
  return packetOf({ ...ENDS, protocol: "tcp", tcpFlags: 0x10, payload });
}

const pieceSizes = fc.oneof(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 1, max: 65_000 }));

const virtios = fc.record({
  flags: fc.nat(0xff),
  type: fc.constantFrom(0, 1, 3, 4, 5, 0x80, 0x81, 0xff),
  headerBytes: fc.nat(0xffff),
  size: fc.oneof(fc.nat(4), fc.nat(0xffff)),
  start: fc.nat(0xffff),
  offset: fc.nat(0xffff),
});

/** To the peer, of whatever protocol; with any byte of the first ones changed. */
const packets = fc
  .record({
    isV6: fc.boolean(),
    protocol: fc.oneof(fc.constantFrom(0, 1, 6, 17, 43, 44, 58, 60), fc.nat(0xff)),
    fragment: fc.oneof(fc.constant(0), fc.nat(0xffff)),
    body: fc.uint8Array({ minLength: 0, maxLength: 200 }),
    more: fc.constantFrom(0, 0, 0, 1400, 30_000),
    change: fc.option(fc.tuple(fc.nat(60), fc.nat(0xff))),
  })
  .map(({ isV6, protocol, fragment, body, more, change }) => {
    const header = isV6
      ? packetOf({ source: "fc00::2", destination: "fc00::102", protocol: "udp" }).subarray(0, 40)
      : packetOf({ ...ENDS, protocol: "udp" }).subarray(0, 20);
    const packet = Buffer.concat([header, body, Buffer.alloc(more)]);
    packet[isV6 ? 6 : 9] = protocol;
    packet.writeUInt16BE(packet.length - (isV6 ? 40 : 0), isV6 ? 4 : 2);
    if (!isV6) packet.writeUInt16BE(fragment, 6);
    const [at, value] = change ?? [packet.length, 0];
    if (at < packet.length) packet[at] = value;
    return packet;
  });

const modes: readonly SessionMode[] = ["fast", "secure"];

describe("what the TUN gives", requires("linux"), () => {
  test.each(modes)(
    "a super-packet of more pieces than can leave at once is dropped, %s",
    (mode) => {
      const world = new World(mode);
      expect(world.give(tcp(60_000), { type: TCP_V4, size: 1 })).toEqual([]);
      expect(world.router.counts.malformed).toBe(1);
      const [whole] = world.give(tcp(100));
      expect(whole).toHaveLength(OVERHEAD[mode] + TCP_HEADERS + 100);
      const pieces = world.give(tcp(MAX_CHUNKS), { type: TCP_V4, size: 1 });
      expect(pieces.map(({ length }) => length)).toEqual(
        new Array(MAX_CHUNKS).fill(OVERHEAD[mode] + TCP_HEADERS + 1),
      );
    },
  );

  test.each([
    ["IPv4", ENDS, 20, 548],
    ["IPv6", { source: "fc00::2", destination: "fc00::102" }, 40, 1232],
  ] as const)(
    "what is too long for the way is quoted as it was, %s",
    (_name, ends, header, quoted) => {
      const world = new World("secure");
      world.peer.maxPacketBytes = 1300;
      world.intake.shortestWay = 1300;
      const packet = packetOf({ ...ends, protocol: "udp", payload: Buffer.alloc(1320, 7) });
      if (header === 20) packet.writeUInt16BE(0x4000, 6);
      expect(world.give(packet, { flags: 0 })).toEqual([]);
      const [message] = world.told();
      expect(message).toHaveLength(VNET_BYTES + header + 8 + quoted);
      expect(message?.subarray(VNET_BYTES + header + 8)).toEqual(packet.subarray(0, quoted));
      expect(message?.readUInt32BE(VNET_BYTES + header + 4)).toBe(1300);
      expect(world.router.counts.tooBig).toBe(1);
    },
  );

  test.each(modes)(
    "a way that is narrower than the pieces of a super-packet gets them one by one, %s",
    (mode) => {
      const world = new World(mode);
      world.peer.maxDatagramBytes = 1252;
      const pieces = world.give(tcp(60_000), { type: TCP_V4, size: 1228 });
      expect(pieces).toHaveLength(Math.ceil(60_000 / 1228));
      for (const byteCount of [1300, 1300, 900]) {
        expect(world.give(tcp(byteCount))).toHaveLength(1);
      }
      // More than can leave at once.
      world.peer.maxDatagramBytes = 60;
      expect(world.give(tcp(60_000), { type: TCP_V4, size: 100 })).toEqual([]);
      expect(world.give(tcp(100))).toHaveLength(1);
    },
  );

  test("pieces have all of a super-packet, in order, whatever their size", () => {
    const world = new World("fast");
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 60_000 }), pieceSizes, (byteCount, size) => {
        const packet = tcp(byteCount);
        const given = world.give(packet, { type: TCP_V4, size });
        const payload = given.map((bytes) => bytes.subarray(FAST_HEADER_BYTES + TCP_HEADERS));
        const isTooMuch = byteCount > size * MAX_CHUNKS;
        const all = isTooMuch ? Buffer.alloc(0) : packet.subarray(TCP_HEADERS);
        expect(Buffer.concat(payload).equals(all)).toBe(true);
        given.forEach((bytes, index) => {
          expect(bytes.readUInt16BE(FAST_HEADER_BYTES - 6)).toBe(index);
        });
      }),
      { numRuns: 30 },
    );
  });

  test.each(modes)("no virtio header and no packet stops what comes after it, %s", (mode) => {
    const world = new World(mode);
    fc.assert(
      fc.property(virtios, packets, (virtio, packet) => {
        const given = world.give(packet, virtio);
        for (const { length } of given) expect(length).toBeLessThanOrEqual(65_507);
        world.told();
        const [next] = world.give(tcp(100));
        expect(next).toHaveLength(OVERHEAD[mode] + TCP_HEADERS + 100);
      }),
      { numRuns: 300 },
    );
  });
});
