import fc from "fast-check";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { AF_UNIX, SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK } from "../../platform/linux/abi.ts";
import { close, read } from "../../platform/linux/io-calls.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { socketpair } from "../../platform/linux/socket-calls.ts";
import { VNET_BYTES } from "../../platform/linux/tun-device.ts";
import { IpPacket } from "../../wire/ip/ip-packet.ts";
import { packetOf, viewOf } from "../../wire/ip/packets.fixture.ts";
import { FlowTable } from "../flows/flow-table.ts";
import { PacketRouter } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { ServiceTable } from "../table/service-table.ts";
import { PacketSink } from "./packet-sink.ts";
import type { Peer } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";
import { TunWriter } from "./tun-writer.ts";
import {
  FAST_HEADER_BYTES,
  FLAG_CHUNK,
  FLAG_LAST,
  FLAG_PARTIAL,
  putSegmentHeader,
  SEGMENT_BYTES,
} from "./wire-form.ts";

const START = 64;
const PIECE = FLAG_PARTIAL | FLAG_CHUNK;
const ENDS = { source: "10.18.1.2", destination: "10.18.0.2" } as const;

/** Takes datagrams of peer b, of one length but the last; what stands for the TUN is a pair of sockets. */
class World {
  readonly router: PacketRouter<Peer>;
  readonly #sink: PacketSink;
  readonly #memory = allocateNative(65_536);
  readonly #room = allocateNative(65_600);
  readonly #kernel: number;
  readonly #peer: Peer;

  constructor() {
    const book = new PeerBook(["10.18.0.0/26"]);
    this.#peer = book.set({ node: "b", subnets: ["10.18.1.0/26"], modes: ["fast"] }).peer;
    this.router = new PacketRouter<Peer>({
      table: new ServiceTable(),
      flows: new FlowTable({ maxFlows: 10 }),
      routes: book.routes,
      serviceRanges: new PrefixMap<true>(),
      observed: { roundTripMs: () => undefined },
      hairpin: { v4: undefined, v6: undefined },
      peerOf: (node) => book.get(node),
    });
    const ends = allocateNative(8);
    socketpair(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, ends.address);
    const [tun, kernel] = [ends.view.getInt32(0, true), ends.view.getInt32(4, true)];
    this.#kernel = kernel;
    this.#sink = new PacketSink(this.router, new TunWriter(tun), 1400);
    this.#sink.takesUdpRuns = true;
    onTestFinished(() => {
      for (const descriptor of [tun, kernel]) close(descriptor);
    });
  }

  /** What the kernel is given: the length and the size of pieces of each packet. */
  take(
    pieces: readonly { packet: Buffer; flags?: number; index?: number; size?: number }[],
  ): readonly (readonly [bytes: number, size: number])[] {
    const { view, bytes } = this.#memory;
    const stride = FAST_HEADER_BYTES + (pieces[0]?.packet.length ?? 0);
    let byteCount = 0;
    pieces.forEach(({ packet, flags = 0, index = 0, size = 0 }, each) => {
      const at = START + each * stride + FAST_HEADER_BYTES;
      putSegmentHeader(view, at - SEGMENT_BYTES, flags, index, size);
      bytes.set(packet, at);
      byteCount += FAST_HEADER_BYTES + packet.length;
    });
    this.#sink.takeRuns(
      {
        memory: this.#memory,
        start: START,
        stride,
        byteCount,
        count: pieces.length,
        peers: pieces.map(() => this.#peer),
        heads: new Uint8Array(pieces.length).fill(FAST_HEADER_BYTES),
      },
      0,
    );
    this.given = this.#read();
    return this.given.map((bytes) => [bytes.length - VNET_BYTES, bytes.readUInt16LE(4)]);
  }

  /** The same, whole, each with its virtio header. */
  given: readonly Buffer[] = [];

  #read(): readonly Buffer[] {
    const memory = this.#room;
    const given: Buffer[] = [];
    for (;;) {
      const count = read(this.#kernel, memory.address, memory.bytes.length);
      if (count <= 0) return given;
      given.push(Buffer.from(memory.bytes.subarray(0, count)));
    }
  }
}

const tcp = (byteCount: number): Buffer =>
  packetOf({ ...ENDS, protocol: "tcp", tcpFlags: 0x10, payload: Buffer.alloc(byteCount) });
const udp = (byteCount: number): Buffer =>
  packetOf({ ...ENDS, protocol: "udp", payload: Buffer.alloc(byteCount) });

/** Pieces of one length but the last, of which a peer says what it likes, with some bytes changed. */
const runs = fc
  .record({
    isTcp: fc.boolean(),
    byteCount: fc.nat(200),
    last: fc.nat(200),
    size: fc.oneof(fc.nat(4), fc.nat(300)),
    flags: fc.array(fc.nat(7), { minLength: 1, maxLength: 8 }),
    changes: fc.array(fc.tuple(fc.nat(7), fc.nat(59), fc.nat(0xff)), { maxLength: 3 }),
  })
  .map(({ isTcp, byteCount, last, size, flags, changes }) =>
    flags.map((each, index) => {
      const bytes = index === flags.length - 1 ? Math.min(last, byteCount) : byteCount;
      const packet = isTcp ? tcp(bytes) : udp(bytes);
      for (const [of, at, value] of changes) {
        if (of === index && at < packet.length) packet[at] = value;
      }
      return { packet, flags: each, index, size };
    }),
  );

describe("packets of peers", requires("linux"), () => {
  test("pieces of a super-packet become one, a part of them another one", () => {
    const world = new World();
    const pieces = [0, 1, 2].map((index) => ({ packet: tcp(100), flags: PIECE, index, size: 100 }));
    const last = { packet: tcp(30), flags: PIECE | FLAG_LAST, index: 3, size: 100 };
    expect(world.take([...pieces, last])).toEqual([[40 + 330, 100]]);
    expect(world.take(pieces.slice(0, 2))).toEqual([[40 + 200, 100]]);
    expect(world.take([last])).toEqual([[40 + 30, 0]]);
  });

  test.each([
    ["of another size than they say", [100, 100], 10, PIECE],
    ["of no size", [100, 100], 0, PIECE],
    ["longer at the end", [100], 50, PIECE | FLAG_LAST],
    ["too short, and not the last", [100, 60], 100, PIECE],
    ["without a payload", [0], 100, PIECE | FLAG_LAST],
  ])("pieces %s are dropped", (_name, sizes, size, flags) => {
    const world = new World();
    const pieces = sizes.map((bytes, index) => ({ packet: tcp(bytes), flags, index, size }));
    expect(world.take(pieces)).toEqual([]);
    expect(world.router.counts.malformed).toBe(1);
  });

  test("whatever a peer says of its pieces, the kernel gets packets of that peer for this node alone", () => {
    const world = new World();
    fc.assert(
      fc.property(runs, (pieces) => {
        world.take(pieces);
        for (const bytes of world.given) {
          const packet = new IpPacket();
          const byteCount = bytes.length - VNET_BYTES;
          expect(packet.parse(viewOf(bytes), VNET_BYTES, byteCount)).toBe(true);
          expect(packet.byteCount).toBe(byteCount);
          expect([(packet.s3 >>> 6) << 6, (packet.d3 >>> 6) << 6]).toEqual([
            0x0a120100, 0x0a120000,
          ]);
          const [flags, type, size] = [bytes[0], bytes[1], bytes.readUInt16LE(4)];
          expect(size === 0).toBe(type === 0);
          const covered = bytes.readUInt16LE(6) + bytes.readUInt16LE(8) + 2;
          if (flags !== 0) expect(covered).toBeLessThanOrEqual(byteCount);
        }
      }),
      { numRuns: 500 },
    );
  });

  test("equal datagrams become one super-packet, but empty ones stay as many as they are", () => {
    const world = new World();
    expect(world.take([1, 2, 3].map(() => ({ packet: udp(50) })))).toEqual([[28 + 150, 50]]);
    const empty = world.take([1, 2, 3].map(() => ({ packet: udp(0) })));
    expect(empty).toEqual([1, 2, 3].map(() => [28, 0]));
  });

  test("a part of a header is no packet, and what follows it is not touched", () => {
    const world = new World();
    const cut = udp(0).subarray(0, 20);
    cut.writeUInt16BE(20, 2);
    expect(world.take([{ packet: cut }, { packet: cut }])).toEqual([]);
    expect(world.router.counts.malformed).toBe(2);
  });
});
