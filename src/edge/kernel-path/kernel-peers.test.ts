import { beforeEach, describe, expect, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { WayTo } from "../../wire/netlink/route/route-question.ts";
import type { Peer, PeerSpec } from "../tunnel/peer.ts";
import { PeerBook } from "../tunnel/peer-book.ts";
import { Session, type SessionMode } from "../tunnel/session.ts";
import { checkOf, numberBytes } from "./entries.ts";
import { FLOOD_PACKETS } from "./flood-guard.ts";
import { FakeKernelMaps } from "./kernel-maps.fixture.ts";
import { KernelPeers } from "./kernel-peers.ts";
import { PEER_VALUE, RECORD, SENDER_VALUE } from "./layout.ts";
import { REST_MS, RecordPool } from "./record-pool.ts";

const AEAD = loadAead();
const KEYED = { publicKey: "b", modes: ["secure", "fast"] } as const;
/** 192.0.2.1, 198.51.100.7 and .8, and port 50103, as on the wire. */
const [LOCAL_IP, THERE, ELSEWHERE, PORT] = ["c0000201", "c6336407", "c6336408", "c3b7"] as const;

/** A book with its mirror on fakes. */
class World {
  readonly maps: FakeKernelMaps = new FakeKernelMaps();
  readonly book: PeerBook = new PeerBook([]);
  readonly peers: KernelPeers;
  way: WayTo | undefined = { link: 3, source: 0xc000_0201 };
  nowMs = 0;
  #lastIndex = 0;

  constructor() {
    this.peers = new KernelPeers({
      peers: this.maps.maps.peers,
      senders: this.maps.maps.senders,
      records: new RecordPool(this.maps.records, this.maps.recordCount, () => this.nowMs),
      localPort: 50_103,
      nowMs: () => this.nowMs,
      isHeard: (peer) => this.book.at(peer.endpointKey) === peer,
      wayTo: () => this.way,
    });
  }

  set(spec: Partial<PeerSpec> = {}): Peer {
    const endpoint = ipAddress("198.51.100.7", 50_103);
    const { peer } = this.book.set({ node: "b", endpoint, subnets: [], modes: ["fast"], ...spec });
    this.peers.refresh(peer);
    return peer;
  }

  /** As a handshake makes it; both keys consist of `byte`. */
  session(mode: SessionMode, byte: number): Session {
    this.#lastIndex += 1;
    const keys = { sealing: Buffer.alloc(32, byte), opening: Buffer.alloc(32, byte + 1) };
    const session = new Session({
      node: "b",
      mode,
      isInitiator: true,
      createdMs: 0,
      localIndex: this.#lastIndex,
      remoteIndex: 0x100 + this.#lastIndex,
      sealing: new AeadKey(AEAD, keys.sealing, "seal"),
      opening: new AeadKey(AEAD, keys.opening, "open"),
      shared: this.peers.share(keys),
    });
    this.book.addSession(session);
    return session;
  }

  use(peer: Peer, session: Session): void {
    peer.session = session;
    this.peers.use(peer, session);
  }

  /** `RECEIVER ADDRESS PORT`. */
  get senders(): readonly string[] {
    return [...this.maps.maps.senders.entries.keys()].map((key) =>
      key.replace(/^(.{8})(.{8})(.{4})0000$/, "$1 $2 $3"),
    );
  }

  get sealingKey(): string | undefined {
    return this.sending?.slice(2 * PEER_VALUE.sealingKey, 2 * PEER_VALUE.check);
  }

  get sending(): string | undefined {
    const [value] = this.maps.maps.peers.entries.values();
    return value && Buffer.from(value).toString("hex");
  }
}

describe("peers of the kernel path", requires("linux"), () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });

  test("one of mode fast without a key is there from the start", () => {
    const peer = world.set();
    const value = `01000000 03000000 ${LOCAL_IP} ${THERE} ${PORT}${PORT} 00000000 00000000`;
    const bytes = Buffer.from(value.replaceAll(" ", "").padEnd(2 * PEER_VALUE.check, "0"), "hex");
    const check = Buffer.alloc(8);
    check.writeBigUInt64LE(checkOf(numberBytes(1), bytes));
    expect(world.sending).toBe(Buffer.concat([bytes, check]).toString("hex"));
    expect(world.senders).toEqual([`00000000 ${THERE} ${PORT}`]);
    world.book.remove(peer.node);
    world.peers.refresh(peer);
    expect([world.sending, world.senders]).toEqual([undefined, []]);
  });

  test.each([
    ["of mode compat", { modes: ["compat"] }],
    ["at an address of IPv6", { endpoint: ipAddress("2001:db8::1", 50_103) }],
    ["at an address that is not known", { endpoint: undefined }],
  ] as const)("one %s is left to the tunnel", (_name, spec) => {
    world.set(spec);
    expect([world.sending, world.senders]).toEqual([undefined, []]);
  });

  test("an address of IPv4 is one in the form of IPv6, too", () => {
    world.set({ endpoint: ipAddress("::ffff:198.51.100.7", 50_103) });
    expect(world.senders).toEqual([`00000000 ${THERE} ${PORT}`]);
  });

  test("with a key it is there when a session is in use, with its keys", () => {
    const peer = world.set(KEYED);
    const session = world.session("secure", 0x11);
    expect([world.sending, world.senders]).toEqual([undefined, []]);
    world.use(peer, session);
    expect(world.sealingKey).toBe("11".repeat(32));
    expect(world.sending?.slice(2 * PEER_VALUE.receiver, 2 * PEER_VALUE.record)).toBe("01010000");
    expect(world.senders).toEqual([`01000000 ${THERE} ${PORT}`]);
    const [sender] = world.maps.maps.senders.entries.values();
    const key = Buffer.from(sender ?? []).subarray(SENDER_VALUE.openingKey, SENDER_VALUE.check);
    expect(key.toString("hex")).toBe("12".repeat(32));
  });

  test("a session that nobody confirmed is not heard beside the one in use", () => {
    const peer = world.set(KEYED);
    world.use(peer, world.session("secure", 1));
    world.session("secure", 3);
    world.peers.refresh(peer);
    expect(world.senders).toEqual([`01000000 ${THERE} ${PORT}`]);
  });

  test("one that the other end sends by is heard beside the one that is sent by here", () => {
    const peer = world.set(KEYED);
    const [own, other] = [world.session("secure", 1), world.session("secure", 3)];
    world.use(peer, own);
    world.peers.use(peer, other);
    expect(world.sealingKey).toBe("01".repeat(32));
    expect(world.senders).toEqual([`01000000 ${THERE} ${PORT}`, `02000000 ${THERE} ${PORT}`]);
  });

  test("new keys are sent by at once, and the old ones heard until their session ends", () => {
    const peer = world.set(KEYED);
    const [old, fresh] = [world.session("secure", 1), world.session("secure", 3)];
    world.use(peer, old);
    world.use(peer, fresh);
    expect(world.sealingKey).toBe("03".repeat(32));
    expect(world.senders).toEqual([`01000000 ${THERE} ${PORT}`, `02000000 ${THERE} ${PORT}`]);
    world.book.dropSession(old);
    expect(world.senders).toEqual([`02000000 ${THERE} ${PORT}`]);
    world.book.dropSession(fresh);
    expect([world.sending, world.senders]).toEqual([undefined, []]);
  });

  test("a record is nobody's before nothing leads to it, and rests then", () => {
    const peer = world.set(KEYED);
    const session = world.session("secure", 1);
    world.use(peer, session);
    session.takeCounter();
    const { shared } = session;
    world.book.dropSession(session);
    expect(world.maps.done.slice(-2).map((line) => line.split(" ", 2).join(" "))).toEqual([
      "delete peers",
      "delete senders",
    ]);
    expect(shared?.given).toBe(0);
    const next = world.session("secure", 3);
    world.use(peer, next);
    expect(world.sending?.slice(2 * PEER_VALUE.record, 2 * PEER_VALUE.record + 8)).toBe("01000000");
    world.nowMs = REST_MS;
    const third = world.session("secure", 5);
    world.use(peer, third);
    expect(world.sending?.slice(2 * PEER_VALUE.record, 2 * PEER_VALUE.record + 8)).toBe("00000000");
    expect(third.takeCounter()).toBe(0);
  });

  test.each([
    ["secure", ["set", "delete"]],
    ["fast", ["delete", "set"]],
  ] as const)("one that moves is heard there: %s", (mode, order) => {
    const peer = world.set(KEYED);
    world.use(peer, world.session(mode, 1));
    world.maps.done.length = 0;
    peer.setEndpoint(ipAddress("198.51.100.8", 50_103));
    world.peers.refresh(peer);
    expect(world.senders).toEqual([`01000000 ${ELSEWHERE} ${PORT}`]);
    expect(world.sending?.slice(2 * PEER_VALUE.remoteIp, 2 * PEER_VALUE.remoteIp + 8)).toBe(
      ELSEWHERE,
    );
    const senders = world.maps.done.filter((line) => line.includes("senders"));
    expect(senders.map((line) => line.split(" ")[0])).toEqual(order);
  });

  test("what one gave up and another one has stays the other's", () => {
    const a = world.set({ node: "a" });
    world.book.set({ ...a.spec, endpoint: ipAddress("198.51.100.8", 50_103) });
    world.set({ node: "b" });
    world.peers.refresh(a);
    expect(world.senders).toEqual([`00000000 ${THERE} ${PORT}`, `00000000 ${ELSEWHERE} ${PORT}`]);
  });

  test("without a way there it is left to the tunnel, until there is one again", () => {
    const peer = world.set(KEYED);
    world.use(peer, world.session("secure", 1));
    const before = world.sending;
    world.way = undefined;
    for (let turn = 0; turn < 4; turn += 1) world.peers.review();
    expect([world.sending, world.senders]).toEqual([undefined, []]);
    world.way = { link: 3, source: 0xc000_0201 };
    for (let turn = 0; turn < 4; turn += 1) world.peers.review();
    expect(world.sending).toBe(before);
    world.maps.done.length = 0;
    for (let turn = 0; turn < 4; turn += 1) world.peers.review();
    expect(world.maps.done).toEqual([]);
  });

  test("without a free record a session is left to the tunnel", () => {
    const peer = world.set(KEYED);
    const sessions = Array.from({ length: 9 }, (_, byte) => world.session("secure", byte));
    for (const session of sessions) world.use(peer, session);
    expect(sessions.filter(({ shared }) => shared !== undefined)).toHaveLength(8);
    expect([world.sending, world.senders.length]).toEqual([undefined, 8]);
  });

  test("one that is sent very many packets is left to the tunnel for a while, and still heard", () => {
    world.set();
    new BigUint64Array(world.maps.records)[RECORD.packetsOut / 8] = BigInt(FLOOD_PACKETS);
    world.peers.collect(0);
    world.peers.review();
    expect([world.sending, world.senders.length]).toEqual([undefined, 1]);
    world.nowMs = 1000;
    for (let turn = 0; turn < 4; turn += 1) world.peers.review();
    expect(world.sending).toBeDefined();
  });

  test("bytes that passed in the kernel are the peer's, also those of a session that ends", () => {
    const peer = world.set(KEYED);
    const session = world.session("secure", 1);
    world.use(peer, session);
    const longs = new BigUint64Array(world.maps.records);
    longs[RECORD.bytesIn / 8] = 100n;
    longs[RECORD.packetsIn / 8] = 1n;
    world.peers.collect(50);
    expect([peer.bytesIn, peer.lastReceivedMs]).toEqual([100, 50]);
    longs[RECORD.bytesOut / 8] = 9n;
    world.book.dropSession(session);
    expect([peer.bytesIn, peer.bytesOut]).toEqual([100, 9]);
  });
});
