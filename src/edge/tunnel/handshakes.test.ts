import { randomBytes } from "node:crypto";
import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { AeadKey } from "../../platform/linux/openssl/aead-key.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import type { KeyPair } from "../../platform/x25519.ts";
import { Handshakes, TUNNEL_IDENTIFIER } from "./handshakes.ts";
import { initiate } from "./noise-ik.ts";
import type { Peer, PeerSpec } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";
import { Session, type SessionMode } from "./session.ts";
import { generateTunnelKey, parseKeyPair, publicTunnelKey } from "./tunnel-keys.ts";

const KEYS = { a: generateTunnelKey(), b: generateTunnelKey() };
type Name = keyof typeof KEYS;
const AEAD = loadAead();

/** A node that knows the other one, and keeps what it would send. */
class Node {
  readonly sent: Buffer[] = [];
  /** To where a message came from. */
  readonly answered: Buffer[] = [];
  readonly heard: string[] = [];
  readonly ready: string[] = [];
  readonly book = new PeerBook([]);
  readonly handshakes: Handshakes;
  readonly identity: KeyPair;
  readonly peer: Peer;

  constructor(name: Name, options: { modes?: PeerSpec["modes"]; clockMs?: number } = {}) {
    const other = name === "a" ? "b" : "a";
    this.identity = parseKeyPair(KEYS[name]);
    this.peer = this.book.set({
      node: other,
      endpoint: ipAddress("192.0.2.1", 1),
      subnets: [],
      publicKey: publicTunnelKey(KEYS[other]),
      modes: options.modes ?? ["secure"],
    }).peer;
    this.handshakes = new Handshakes({
      handshaker: { identity: this.identity, identifier: TUNNEL_IDENTIFIER },
      book: this.book,
      aead: AEAD,
      rekeyAfterMs: 120_000,
      send: (_peer, message) => this.sent.push(Buffer.from(message)),
      onSession: (peer) => this.ready.push(peer.node),
      wallClockMs: () => options.clockMs ?? 1_000_000,
    });
    onTestFinished(() => {
      for (const session of this.book.sessions) this.book.dropSession(session);
    });
  }

  receive(message: Buffer | undefined, nowMs = 0): void {
    this.handshakes.onMessage(Buffer.from(message ?? []), nowMs, {
      answer: (_peer, answer) => this.answered.push(Buffer.from(answer)),
      isPeer: (peer) => this.heard.push(peer.node),
    });
  }

  /** What it sends first. */
  begin(nowMs = 0): Buffer {
    this.handshakes.want(this.peer, nowMs);
    const message = this.sent.at(-1);
    if (message === undefined) throw new Error("nothing was begun");
    return message;
  }
}

describe("handshakes of tunnels", requires("linux"), () => {
  test("who begins may send first; who answers waits for that", () => {
    const [a, b] = [new Node("a"), new Node("b")];
    b.receive(a.begin());
    expect(b.book.sessions).toHaveLength(1);
    expect([b.peer.session, b.ready]).toEqual([undefined, []]);
    a.receive(b.answered[0]);
    expect(a.peer.session?.mode).toBe("secure");
    expect([a.ready, a.heard]).toEqual([["b"], ["b"]]);
    const [mine] = a.book.sessions;
    const [theirs] = b.book.sessions;
    expect([mine?.remoteIndex, mine?.localIndex]).toEqual([
      theirs?.localIndex,
      theirs?.remoteIndex,
    ]);
    // The same once more is nothing.
    a.receive(b.answered[0]);
    expect(a.handshakes.counts).toEqual({ refused: 1, noCommonMode: 0, completed: 1 });
  });

  test("an initiation that somebody repeats is refused, and after a restart it moves nobody", () => {
    const [a, b, again] = [new Node("a"), new Node("b"), new Node("b")];
    const message = a.begin();
    b.receive(message);
    b.receive(message);
    expect(b.handshakes.counts.refused).toBe(1);
    expect(b.answered).toHaveLength(1);
    // Another process with the same key can not know that it is old: it answers, and believes nothing yet.
    again.receive(message);
    expect(again.answered).toHaveLength(1);
    expect([again.heard, again.sent, again.peer.session]).toEqual([[], [], undefined]);
  });

  test("messages of who does not know this node take nothing from those that do", () => {
    const [a, b] = [new Node("a"), new Node("b")];
    const genuine = a.begin();
    for (let index = 0; index < 1000; index += 1) {
      const noise = randomBytes(genuine.length);
      noise[0] = 1 + (index % 2);
      b.receive(noise);
    }
    b.receive(genuine);
    expect(b.answered).toHaveLength(1);
    expect(b.handshakes.counts.refused).toBe(1000);
  });

  test("of those that do know it only so many a second are read", () => {
    const b = new Node("b");
    const stranger = { identity: parseKeyPair(generateTunnelKey()), identifier: TUNNEL_IDENTIFIER };
    const payload = Buffer.alloc(14);
    for (let senderIndex = 1; senderIndex <= 200; senderIndex += 1) {
      b.receive(initiate(stranger, b.identity.publicBytes, { senderIndex, payload })?.message);
    }
    const genuine = new Node("a").begin();
    b.receive(genuine, 999);
    expect(b.answered).toHaveLength(0);
    b.receive(genuine, 1000);
    expect(b.answered).toHaveLength(1);
  });

  test("who repeats what it heard, as it was or with what nothing vouches for changed, takes nothing from others", () => {
    const [a, b] = [new Node("a"), new Node("b")];
    const stranger = { identity: parseKeyPair(generateTunnelKey()), identifier: TUNNEL_IDENTIFIER };
    const content = { senderIndex: 1, payload: Buffer.alloc(14) };
    const heard = [a.begin(), initiate(stranger, b.identity.publicBytes, content)?.message];
    for (const message of heard) {
      for (let index = 0; index < 500; index += 1) {
        message?.writeUInt32LE(index, message.length - 4);
        b.receive(message);
      }
    }
    b.receive(new Node("a", { clockMs: 2_000_000 }).begin());
    expect(b.answered).toHaveLength(2);
    expect(b.handshakes.counts.refused).toBe(999);
  });

  test("a long message is refused before it is hashed, whoever wrote it", () => {
    const [a, b] = [new Node("a"), new Node("b")];
    const handshaker = { identity: a.identity, identifier: TUNNEL_IDENTIFIER };
    const payload = Buffer.concat([Buffer.alloc(12, 9), Buffer.from([1, 0]), Buffer.alloc(60_000)]);
    const long = initiate(handshaker, b.identity.publicBytes, { senderIndex: 1, payload });
    b.receive(long?.message);
    expect([b.answered, b.handshakes.counts.refused]).toEqual([[], 1]);
  });

  test.each<[readonly SessionMode[], readonly SessionMode[], SessionMode | undefined]>([
    [["secure", "fast"], ["fast", "secure"], "fast"],
    [["fast", "secure"], ["secure"], "secure"],
    [["fast"], ["secure"], undefined],
  ])("who offers %j to one that allows %j gets %s", (offered, allowed, expected) => {
    const [a, b] = [new Node("a", { modes: offered }), new Node("b", { modes: allowed })];
    b.receive(a.begin());
    if (b.answered[0] !== undefined) a.receive(b.answered[0]);
    expect(a.peer.session?.mode).toBe(expected);
    expect(b.handshakes.counts.noCommonMode).toBe(expected === undefined ? 1 : 0);
  });

  test("another session is agreed on when one is old, or was used much, and none is used for too long", () => {
    const node = new Node("a");
    const sessionOf = (createdMs: number): Session => {
      const key = randomBytes(32);
      const session = new Session({
        node: "b",
        mode: "secure",
        isInitiator: true,
        createdMs,
        localIndex: createdMs + 1,
        remoteIndex: 1,
        sealing: new AeadKey(AEAD, key, "seal"),
        opening: new AeadKey(AEAD, key, "open"),
        maxMessages: 4,
      });
      node.book.addSession(session);
      node.peer.session = session;
      return session;
    };
    const session = sessionOf(0);
    session.takeCounter();
    node.handshakes.tick(1);
    expect(node.sent).toHaveLength(0);
    session.takeCounter();
    node.handshakes.tick(2);
    expect(node.sent).toHaveLength(1);
    session.takeCounter();
    session.takeCounter();
    node.handshakes.tick(3);
    expect([node.peer.session, node.book.sessions]).toEqual([undefined, []]);
    sessionOf(10);
    node.handshakes.tick(180_009);
    expect(node.book.sessions).toHaveLength(1);
    node.handshakes.tick(180_010);
    expect(node.book.sessions).toHaveLength(0);
  });

  test("a peer that is removed has no session left that could be sealed with, and none is begun with it", () => {
    const [a, b] = [new Node("a"), new Node("b")];
    b.receive(a.begin());
    a.receive(b.answered[0]);
    const session = a.peer.session;
    a.book.remove("b");
    expect([a.peer.session, a.book.sessions]).toEqual([undefined, []]);
    expect(() => session?.sealing.seal(0, 0, 0, 0)).toThrow("freed");
    const sent = a.sent.length;
    a.handshakes.want(a.peer, 10_000);
    expect(a.sent).toHaveLength(sent);
  });
});
