import { ERRNO } from "../../platform/errno.ts";
import { read } from "../../platform/linux/io-calls.ts";
import { allocateNative, type NativeMemory } from "../../platform/linux/native-memory.ts";
import { VNET_BYTES } from "../../platform/linux/tun-device.ts";
import type { PacketPlace } from "../../wire/ip/answer-header.ts";
import { clampMss } from "../../wire/ip/clamp-mss.ts";
import { mayBeFragmented, writePortUnreachable, writeTooBig } from "../../wire/ip/icmp-error.ts";
import { PROTOCOL_TCP, PROTOCOL_UDP } from "../../wire/ip/ip-numbers.ts";
import { IpPacket, NOT_A_FRAGMENT } from "../../wire/ip/ip-packet.ts";
import { ipLength, setIpLength } from "../../wire/ip/set-length.ts";
import { writeTcpReset } from "../../wire/ip/tcp-reset.ts";
import { DROPPED, LOCAL, type PacketRouter, REFUSED, UNKNOWN } from "../flows/packet-router.ts";
import { MAX_CHUNKS, type Outgoing } from "./outgoing.ts";
import type { Peer } from "./peer.ts";
import type { Session } from "./session.ts";
import type { TunWriter } from "./tun-writer.ts";
import { gsoSize, isPartial, putPlainVirtio } from "./virtio-header.ts";
import { FLAG_PARTIAL } from "./wire-form.ts";

const SLOTS = 64;
/** For headers before a packet. */
const HEADROOM_BYTES = 64;
const SLOT_BYTES = HEADROOM_BYTES + 66_048;
/** After so much the peers are served first. */
const MAX_BATCH_BYTES = 500_000;
/** A packet that comes so soon after others has more behind it. After a pause there is one, and to see that costs a call. */
const BURST_MS = 0.2;
/** What a message that a packet is too long quotes of it. */
const QUOTED_BYTES = 1232;

export interface TunIntakeOptions {
  readonly descriptor: number;
  readonly router: PacketRouter<Peer>;
  readonly outgoing: Outgoing;
  readonly writer: TunWriter;
  readonly mtu: number;
  /** A packet to an address that is not known (yet), with its virtio header. */
  onUnknown(ip: string, packet: Uint8Array): void;
  /** A packet to a peer that can not be sent to (yet), with its virtio header. */
  onUnready(peer: Peer, packet: Uint8Array): void;
}

/** Takes the packets of the workloads here from the TUN, and sends them on. */
export class TunIntake {
  readonly #options: TunIntakeOptions;
  readonly #memory: NativeMemory = allocateNative(SLOTS * SLOT_BYTES);
  readonly #out: { memory: NativeMemory; at: number; byteCount: number };
  /** The beginning of a packet as it was, where it may be too long for the way. */
  readonly #original: NativeMemory = allocateNative(QUOTED_BYTES);
  readonly #message: NativeMemory = allocateNative(VNET_BYTES + 1280);
  readonly #quoted = new IpPacket();
  #readMs: number = Number.NEGATIVE_INFINITY;
  /** No way is known that takes only shorter packets than this. */
  shortestWay: number = Number.POSITIVE_INFINITY;

  constructor(options: TunIntakeOptions) {
    this.#options = options;
    this.#out = { memory: this.#memory, at: 0, byteCount: 0 };
  }

  /** A batch; more may be there. 0, or a negative errno where the TUN is gone. */
  read(nowMs: number): number {
    const { descriptor, outgoing } = this.#options;
    const { address } = this.#memory;
    const isBurst = nowMs - this.#readMs < BURST_MS;
    const slots = isBurst ? SLOTS : 1;
    this.#readMs = nowMs;
    let bytes = 0;
    let failed = 0;
    for (let slot = 0; slot < slots && bytes < MAX_BATCH_BYTES; slot += 1) {
      const at = slot * SLOT_BYTES + HEADROOM_BYTES;
      const count = read(descriptor, address + at, SLOT_BYTES - HEADROOM_BYTES);
      if (count < 0 && count !== -ERRNO.EAGAIN) failed = count;
      if (count <= VNET_BYTES) break;
      bytes += count;
      this.#take(at, count, nowMs);
    }
    outgoing.flush();
    return failed === -ERRNO.EINTR ? 0 : failed;
  }

  /** One that waited, as it was given to `onUnknown` or `onUnready`. */
  resume(packet: Uint8Array, nowMs: number): void {
    this.#memory.bytes.set(packet, HEADROOM_BYTES);
    this.#take(HEADROOM_BYTES, packet.length, nowMs);
    this.#options.outgoing.flush();
  }

  #take(virtioAt: number, count: number, nowMs: number): void {
    const { view, bytes, address } = this.#memory;
    const { router, writer, mtu } = this.#options;
    const at = virtioAt + VNET_BYTES;
    const byteCount = count - VNET_BYTES;
    const partial = isPartial(view, virtioAt);
    const size = gsoSize(view, virtioAt);
    const mayBeTooLong = byteCount > this.shortestWay;
    if (mayBeTooLong) this.#original.bytes.set(bytes.subarray(at, at + QUOTED_BYTES));
    const verdict = router.fromLocal(view, at, byteCount, partial, nowMs);
    if (verdict === DROPPED) return;
    if (verdict === REFUSED) {
      this.#refuse(at);
      return;
    }
    if (verdict === UNKNOWN) {
      this.#options.onUnknown(router.unknown, bytes.subarray(virtioAt, virtioAt + count));
    } else if (verdict === LOCAL) {
      writer.write(address + virtioAt, count);
    } else if (size > 0 && !this.#isOfPieces(at, byteCount, size)) {
      router.counts.malformed += 1;
    } else {
      const isTooLong = mayBeTooLong && this.#refuseTooLong(verdict, at, byteCount, size);
      if (isTooLong) return;
      clampMss(view, at, router.packet, shorter(mtu, verdict.maxPacketBytes), partial);
      this.#send(verdict, virtioAt, byteCount, partial, size, nowMs);
    }
  }

  /** A workload can write virtio headers of its own: the kernel passes on what cuts a packet into single bytes. */
  #isOfPieces(at: number, byteCount: number, size: number): boolean {
    const { packet } = this.#options.router;
    const isTcpOrUdp = packet.protocol === PROTOCOL_TCP || packet.protocol === PROTOCOL_UDP;
    if (!isTcpOrUdp || packet.fragment !== NOT_A_FRAGMENT) return false;
    const payload = byteCount - packet.headerBytes(this.#memory.view, at);
    return payload > 0 && payload <= size * MAX_CHUNKS;
  }

  #send(
    peer: Peer,
    virtioAt: number,
    byteCount: number,
    partial: boolean,
    size: number,
    nowMs: number,
  ): void {
    const { bytes } = this.#memory;
    const { outgoing } = this.#options;
    const out = this.#out;
    out.at = virtioAt + VNET_BYTES;
    out.byteCount = byteCount;
    const { session } = peer;
    if (peer.nameBytes === 0 || (peer.hasKey && session?.isUsable(nowMs) !== true)) {
      this.#options.onUnready(peer, bytes.subarray(virtioAt, out.at + byteCount));
      return;
    }
    peer.lastSentMs = nowMs;
    if (peer.isCompat) {
      // One with offloads was on its way when the TUN was told to give none: its sender repeats it.
      if (!partial && size === 0) outgoing.sendCompat(peer, out);
    } else if (session?.mode === "secure") this.#sendSecure(peer, session, partial, size);
    else this.#sendFast(peer, session?.remoteIndex ?? 0, partial, size);
  }

  #sendSecure(peer: Peer, session: Session, partial: boolean, size: number): void {
    const { outgoing } = this.#options;
    if (size > 0) outgoing.sendSecureChunks(peer, this.#out, session, this.#headerBytes(), size);
    else outgoing.sendSecure(peer, this.#out, session, partial ? FLAG_PARTIAL : 0);
  }

  #sendFast(peer: Peer, receiver: number, partial: boolean, size: number): void {
    const { outgoing } = this.#options;
    if (size > 0) outgoing.sendFastChunks(peer, this.#out, receiver, this.#headerBytes(), size);
    else outgoing.sendFast(peer, this.#out, receiver, partial ? FLAG_PARTIAL : 0);
  }

  #headerBytes(): number {
    return this.#options.router.packet.headerBytes(this.#memory.view, this.#out.at);
  }

  /** Tells the sender of a packet that it is longer than the way to a peer allows. */
  #refuseTooLong(peer: Peer, at: number, byteCount: number, size: number): boolean {
    const { view } = this.#memory;
    const { router } = this.#options;
    const limit = peer.maxPacketBytes;
    const longest = size === 0 ? byteCount : router.packet.headerBytes(view, at) + size;
    if (limit === 0 || longest <= limit || mayBeFragmented(view, at, router.packet)) return false;
    router.counts.tooBig += 1;
    const quoted = this.#quoted;
    const { view: original } = this.#original;
    // What is quoted is a part: it is read as if it were all, and quoted as it was.
    const said = ipLength(original, 0);
    setIpLength(original, 0, QUOTED_BYTES);
    const isRight = quoted.parse(original, 0, QUOTED_BYTES);
    setIpLength(original, 0, said);
    if (isRight) this.#tell((out) => writeTooBig(original, 0, quoted, limit, out));
    return true;
  }

  /** What nobody serves: a connection is reset, anything else is told to be unreachable. */
  #refuse(at: number): void {
    const { view } = this.#memory;
    const { packet } = this.#options.router;
    const write = packet.protocol === PROTOCOL_TCP ? writeTcpReset : writePortUnreachable;
    this.#tell((out) => write(view, at, packet, out));
  }

  #tell(write: (out: PacketPlace) => number): void {
    const { address, view } = this.#message;
    putPlainVirtio(view, 0);
    const byteCount = write({ view, at: VNET_BYTES });
    if (byteCount > 0) this.#options.writer.write(address, VNET_BYTES + byteCount);
  }
}

function shorter(mtu: number, limit: number): number {
  return limit === 0 ? mtu : Math.min(mtu, limit);
}
