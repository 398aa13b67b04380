import { allocateNative, type NativeMemory } from "../../platform/linux/native-memory.ts";
import type { Outgoing } from "./outgoing.ts";
import type { Peer } from "./peer.ts";
import { FLAG_CONTROL } from "./wire-form.ts";

/** Messages of tunnels to each other: a kind, and a number that the answer brings back. */
const PING = 1;
const PONG = 2;
const STAMP_AT = 8;
const MESSAGE_BYTES = 16;
const HEADROOM_BYTES = 64;
/** What takes longer is no round-trip: it was asked before, or not at all. */
const MAX_ROUND_TRIP_MS = 60_000;

/** Measures round-trip times, and asks whether a peer is where it seems to be. */
export class TunnelControl {
  readonly #outgoing: Outgoing;
  readonly #memory: NativeMemory = allocateNative(HEADROOM_BYTES + MESSAGE_BYTES);

  constructor(outgoing: Outgoing) {
    this.#outgoing = outgoing;
  }

  ping(peer: Peer, nowMs: number): void {
    this.#send(peer, PING, nowMs, nowMs);
  }

  /** In this memory, from here on. */
  take(peer: Peer, view: DataView, at: number, byteCount: number, nowMs: number): void {
    if (byteCount < MESSAGE_BYTES) return;
    const kind = view.getUint8(at);
    const stamp = view.getFloat64(at + STAMP_AT);
    if (kind === PING) this.#send(peer, PONG, stamp, nowMs);
    const ms = nowMs - stamp;
    // A stamp that nobody here can have sent, or infinite, would spoil the average for ever.
    if (kind === PONG && ms >= 0 && ms <= MAX_ROUND_TRIP_MS) peer.noteRoundTrip(ms);
  }

  /** Sealed where there is a session; of a peer without a key nothing is. */
  #send(peer: Peer, kind: number, stamp: number, nowMs: number): void {
    const { session } = peer;
    if (peer.nameBytes === 0 || peer.isCompat) return;
    if (peer.hasKey && session?.isUsable(nowMs) !== true) return;
    const { view } = this.#memory;
    view.setUint32(HEADROOM_BYTES, 0);
    view.setUint8(HEADROOM_BYTES, kind);
    view.setFloat64(HEADROOM_BYTES + STAMP_AT, stamp);
    const packet = { memory: this.#memory, at: HEADROOM_BYTES, byteCount: MESSAGE_BYTES };
    if (session === undefined) this.#outgoing.sendFast(peer, packet, 0, FLAG_CONTROL);
    else this.#outgoing.sendSecure(peer, packet, session, FLAG_CONTROL);
    this.#outgoing.flush();
  }
}
