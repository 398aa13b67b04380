import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { openDatagram } from "../../net/posix/open-socket.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { allocateNative } from "../../platform/linux/native-memory.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { send } from "../../platform/linux/socket-calls.ts";
import { localAddressOf } from "../../platform/linux/socket-names.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { packetOf } from "../../wire/ip/packets.fixture.ts";
import { FlowTable } from "../flows/flow-table.ts";
import { PacketRouter } from "../flows/packet-router.ts";
import { PrefixMap } from "../flows/prefix-map.ts";
import { ServiceTable } from "../table/service-table.ts";
import { Incoming } from "./incoming.ts";
import { openTunnelSocket } from "./open-tunnel-socket.ts";
import { PacketSink } from "./packet-sink.ts";
import type { Peer } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";
import { Session, type SessionMode } from "./session.ts";
import { TunWriter } from "./tun-writer.ts";
import { FLAG_CONTROL, putFastPrefix, putSecurePrefix, putSegmentHeader } from "./wire-form.ts";

const KEY = new Uint8Array(32).fill(3);
const SECURE_INDEX = 0x1234_5678;
const FAST_INDEX = 0x0bad_cafe;
const PREFIX = 16;
const KINDS: readonly (number | undefined)[] = [1, 2, 3, 4, 0x11, 0x45, 0x60, undefined];
const PACKET: Uint8Array = packetOf({
  source: "10.18.1.2",
  destination: "10.18.0.2",
  protocol: "udp",
  payload: Buffer.alloc(30),
});

/** A node with the peer b, by whose sessions datagrams can be made; all real sockets of loopback. */
class World {
  readonly moved: string[] = [];
  readonly doubtful: string[] = [];
  readonly handshakes: number[] = [];
  readonly controls: number[] = [];
  readonly router: PacketRouter<Peer>;
  readonly incoming: Incoming;
  readonly peer: Peer;
  readonly #memory = allocateNative(65_536);
  readonly #sealing = new AeadKey(loadAead(), KEY, "seal");
  readonly #descriptors: number[] = [];
  readonly #to;

  constructor() {
    const udp = openTunnelSocket(ipAddress("127.0.0.1", 0));
    this.#descriptors.push(udp);
    this.#to = localAddressOf(udp);
    const book = new PeerBook(["10.18.0.0/26"]);
    const spec = { node: "b", subnets: ["10.18.1.0/26"], publicKey: "b" };
    this.peer = book.set({ ...spec, modes: ["secure", "fast"] }).peer;
    book.addSession(sessionOf("secure", SECURE_INDEX));
    book.addSession(sessionOf("fast", FAST_INDEX));
    this.router = new PacketRouter<Peer>({
      table: new ServiceTable(),
      flows: new FlowTable({ maxFlows: 10 }),
      routes: book.routes,
      serviceRanges: new PrefixMap<true>(),
      observed: { roundTripMs: () => undefined },
      hairpin: { v4: undefined, v6: undefined },
      peerOf: (node) => book.get(node),
    });
    this.incoming = new Incoming({
      descriptor: udp,
      book,
      // Nobody takes packets: what is written is refused, and counted.
      sink: new PacketSink(this.router, new TunWriter(-1), 1400),
      events: {
        onHandshake: ({ length }) => this.handshakes.push(length),
        onControl: (_peer, _view, _at, byteCount) => this.controls.push(byteCount),
        onConfirmed: (session) => {
          this.peer.session = session;
        },
        onMoved: (peer, { names, at, byteCount, key }) => {
          peer.endpointKey = key;
          this.moved.push(`${peer.node} ${names.view.getUint16(at + 2)} ${byteCount > 0}`);
        },
        onDoubtful: (peer) => this.doubtful.push(peer.node),
      },
    });
    onTestFinished(() => {
      for (const session of book.sessions) book.dropSession(session);
      this.#sealing.free();
      for (const descriptor of this.#descriptors) close(descriptor);
    });
  }

  /** Somebody on a port of his own: sends, and has what was sent taken. */
  sender(): { readonly port: number; send(...datagrams: readonly Uint8Array[]): void } {
    const { descriptor } = openDatagram(ipAddress("127.0.0.1", 0), { connectTo: this.#to });
    this.#descriptors.push(descriptor);
    const own = localAddressOf(descriptor);
    return {
      port: own.family === "unix" ? 0 : own.port,
      send: (...datagrams) => {
        for (const bytes of datagrams) {
          this.#memory.bytes.set(bytes);
          send(descriptor, this.#memory.address, bytes.length, 0);
        }
        while (this.incoming.receive(0) > 0);
      },
    };
  }

  sealed(counter: number, packet: Uint8Array = PACKET, flags = 0): Buffer {
    const { view, bytes, address } = this.#memory;
    putSegmentHeader(view, 32_768, flags, 0, 0);
    bytes.set(packet, 32_776);
    putSecurePrefix(view, 0, SECURE_INDEX, counter);
    this.#sealing.seal(counter, address + 32_768, 8 + packet.length, address + PREFIX);
    return Buffer.from(bytes.subarray(0, PREFIX + 8 + packet.length + 16));
  }
}

function sessionOf(mode: SessionMode, index: number): Session {
  const aead = loadAead();
  return new Session({
    node: "b",
    mode,
    isInitiator: false,
    createdMs: 0,
    localIndex: index,
    remoteIndex: 1,
    sealing: new AeadKey(aead, KEY, "seal"),
    opening: new AeadKey(aead, KEY, "open"),
  });
}

function fast(index: number, flags = 0): Buffer {
  const bytes = Buffer.alloc(PREFIX);
  const view = new DataView(bytes.buffer, bytes.byteOffset, PREFIX);
  putFastPrefix(view, 0, index);
  putSegmentHeader(view, 8, flags, 0, 0);
  return Buffer.concat([bytes, PACKET]);
}

/** With one bit changed each, and cut after each byte. */
function changesOf(genuine: Buffer): readonly Buffer[] {
  return [...genuine].flatMap((byte, at) => {
    const changed = Buffer.from(genuine);
    changed[at] = byte ^ (1 << (at % 8));
    return [changed, genuine.subarray(0, at)];
  });
}

/** Of all kinds and lengths, some with the number of a session. */
function noise(): readonly Buffer[] {
  return Array.from({ length: 2000 }, (_, seed) => {
    const bytes = Buffer.from(seededBytes(seed, 8 + ((seed * 37) % 1500)));
    const kind = KINDS[seed % KINDS.length];
    if (kind !== undefined) bytes[0] = kind;
    const index = [SECURE_INDEX, FAST_INDEX][seed % 3];
    if (index !== undefined) bytes.writeUInt32LE(index, 4);
    return bytes;
  });
}

describe("what comes to the port of a tunnel", requires("linux"), () => {
  test("a peer is followed by what it sent last, not by what was overtaken", () => {
    const world = new World();
    const [first, second] = [world.sender(), world.sender()];
    first.send(world.sealed(1));
    second.send(world.sealed(3));
    first.send(world.sealed(2));
    expect(world.moved).toEqual([`b ${first.port} true`, `b ${second.port} true`]);
    expect(world.router.counts.fromPeers).toBe(3);
  });

  test("what is not sealed is taken from where the peer is, and never as a message to the tunnel", () => {
    const world = new World();
    const [peer, other] = [world.sender(), world.sender()];
    peer.send(world.sealed(1), fast(FAST_INDEX), fast(FAST_INDEX, FLAG_CONTROL));
    expect([world.router.counts.fromPeers, world.controls]).toEqual([2, []]);
    // The other session was agreed on to be secure; and the peer, which has a key, is never known by its address alone.
    peer.send(fast(SECURE_INDEX), fast(0), PACKET);
    other.send(fast(FAST_INDEX));
    expect(world.router.counts.fromPeers).toBe(2);
    expect(world.incoming.counts).toMatchObject({ strange: 3, wrongAddress: 1, notGenuine: 0 });
    expect(world.doubtful).toEqual(["b"]);
  });

  test("random bytes, and genuine ones that were changed, cut or repeated, are counted and nothing else", () => {
    const world = new World();
    const [peer, forger] = [world.sender(), world.sender()];
    const genuine = world.sealed(7);
    peer.send(genuine);
    const before = { ...world.router.counts };
    const forged = [genuine, ...changesOf(genuine), ...noise()];
    for (const datagram of forged) forger.send(datagram);
    expect(world.router.counts).toEqual(before);
    expect(world.moved).toHaveLength(1);
    expect(world.controls).toEqual([]);
    const { datagrams, strange, notGenuine, wrongAddress } = world.incoming.counts;
    expect(datagrams).toBe(1 + forged.length);
    expect(strange + notGenuine + wrongAddress + world.handshakes.length).toBe(forged.length);
    for (const count of [strange, notGenuine, wrongAddress]) expect(count).toBeGreaterThan(10);
    // It goes on as before.
    peer.send(world.sealed(8, PACKET, FLAG_CONTROL), world.sealed(9));
    expect(world.controls).toEqual([PACKET.length]);
    expect(world.router.counts.fromPeers).toBe(before.fromPeers + 1);
  });
});
