import { ERRNO } from "../../platform/errno.ts";
import { allocateNative, type NativeMemory } from "../../platform/linux/native-memory.ts";
import { AEAD_TAG_BYTES } from "../../platform/linux/openssl/aead-key.ts";
import {
  MAX_MESSAGE_BYTES,
  MAX_SEGMENTS,
  SegmentSender,
} from "../../platform/linux/segment-sender.ts";
import type { Peer } from "./peer.ts";
import type { Session } from "./session.ts";
import {
  FAST_HEADER_BYTES,
  FLAG_CHUNK,
  FLAG_LAST,
  FLAG_PARTIAL,
  putFastPrefix,
  putSecurePrefix,
  putSegmentHeader,
  SECURE_HEADER_BYTES,
  SECURE_PREFIX_BYTES,
  SEGMENT_BYTES,
} from "./wire-form.ts";

const MAX_MESSAGES = 256;
const MAX_IOVECS = 16_384;
const PIECES_A_CHUNK = 3;
/** Of the shortest pieces that TCP may have, and one for the packets before. */
const MAX_MESSAGES_A_PACKET = 32;
/** More pieces of one super-packet find no room in what leaves at once. */
export const MAX_CHUNKS: number = MAX_MESSAGES_A_PACKET * MAX_SEGMENTS;
/** What is sealed, and the headers of chunks, until the next flush. */
const SCRATCH_BYTES = 4_194_304;

export interface OutgoingCounts {
  /** Datagrams that the system did not take. */
  sendFailed: number;
}

/** A packet that is in memory which the kernel can read, with room for headers before it. */
export interface OutgoingPacket {
  readonly memory: NativeMemory;
  /** Where the packet begins. */
  readonly at: number;
  readonly byteCount: number;
}

/**
 * Packets on their way to peers. Those of one length to one peer that follow each other leave as one message,
 * and so do the pieces of a super-packet; in the order in which they came.
 */
export class Outgoing {
  readonly counts: OutgoingCounts = { sendFailed: 0 };
  readonly #descriptor: number;
  readonly #sender: SegmentSender;
  readonly #scratch: NativeMemory = allocateNative(SCRATCH_BYTES);
  #scratchAt = 0;
  /** Whose the messages of this batch are; as many as there are messages. */
  readonly #peers: (Peer | undefined)[] = new Array(MAX_MESSAGES).fill(undefined);
  /** Packets of one length to one peer, which are not a message yet. */
  #runPeer: Peer | undefined;
  #runFirst = 0;
  #runCount = 0;
  #runBytes = 0;
  #runSegment = 0;

  /** @param onTooLong a message was refused as it is longer than the way to the peer allows */
  constructor(descriptor: number, onTooLong: (peer: Peer) => void) {
    this.#descriptor = descriptor;
    this.#sender = new SegmentSender({
      maxMessages: MAX_MESSAGES,
      maxIovecs: MAX_IOVECS,
      onFailed: (message, result) => {
        this.counts.sendFailed += 1;
        const peer = this.#peers[message];
        const isTooLong = result === -ERRNO.EMSGSIZE || result === -ERRNO.EINVAL;
        if (peer !== undefined && isTooLong) onTooLong(peer);
      },
    });
  }

  /** The packet alone. */
  sendCompat(peer: Peer, packet: OutgoingPacket): void {
    this.#single(peer, packet.memory.address + packet.at, packet.byteCount);
  }

  /** A packet, with its headers written before it. */
  sendFast(peer: Peer, packet: OutgoingPacket, receiver: number, flags: number): void {
    const { memory, at, byteCount } = packet;
    const start = at - FAST_HEADER_BYTES;
    putFastPrefix(memory.view, start, receiver);
    putSegmentHeader(memory.view, at - SEGMENT_BYTES, flags, 0, 0);
    this.#single(peer, memory.address + start, byteCount + FAST_HEADER_BYTES);
  }

  sendSecure(peer: Peer, packet: OutgoingPacket, session: Session, flags: number): void {
    const { memory, at, byteCount } = packet;
    const bytes = SECURE_HEADER_BYTES + byteCount + AEAD_TAG_BYTES;
    const to = this.#reserve(bytes, 1);
    putSegmentHeader(memory.view, at - SEGMENT_BYTES, flags, 0, 0);
    this.#seal(session, memory.address + at - SEGMENT_BYTES, SEGMENT_BYTES + byteCount, to);
    this.#single(peer, this.#scratch.address + to, bytes);
  }

  /** A super-packet of MAX_CHUNKS pieces at most: nothing is copied, the headers are repeated by reference. */
  sendFastChunks(
    peer: Peer,
    packet: OutgoingPacket,
    receiver: number,
    headerBytes: number,
    size: number,
  ): void {
    const { memory, at, byteCount } = packet;
    const payload = byteCount - headerBytes;
    const count = Math.ceil(payload / size);
    const segment = FAST_HEADER_BYTES + headerBytes + size;
    const perMessage = segmentsOf(peer, segment);
    if (count > perMessage * (MAX_MESSAGES - 1)) {
      this.counts.sendFailed += 1;
      return;
    }
    this.#closeRun();
    const pieces = PIECES_A_CHUNK * count;
    const headers = this.#reserve(count * FAST_HEADER_BYTES, pieces, count / perMessage);
    const { address, view } = this.#scratch;
    const base = memory.address + at;
    let first = this.#sender.iovecCount;
    for (let index = 0; index < count; index += 1) {
      const header = headers + index * FAST_HEADER_BYTES;
      const isLast = index === count - 1;
      putFastPrefix(view, header, receiver);
      putSegmentHeader(
        view,
        header + FAST_HEADER_BYTES - SEGMENT_BYTES,
        chunkFlags(isLast),
        index,
        size,
      );
      this.#sender.addPiece(address + header, FAST_HEADER_BYTES);
      this.#sender.addPiece(base, headerBytes);
      const chunk = isLast ? payload - index * size : size;
      this.#sender.addPiece(base + headerBytes + index * size, chunk);
      if ((index + 1) % perMessage === 0 || isLast) {
        this.#message(peer, first, index % perMessage === 0 ? 0 : segment);
        first = this.#sender.iovecCount;
      }
    }
    peer.bytesOut += byteCount;
  }

  /** The same, sealed: the headers are written before each piece, over the one before, which is sealed by then. */
  sendSecureChunks(
    peer: Peer,
    packet: OutgoingPacket,
    session: Session,
    headerBytes: number,
    size: number,
  ): void {
    const { memory, at, byteCount } = packet;
    const payload = byteCount - headerBytes;
    const count = Math.ceil(payload / size);
    const segment = SECURE_HEADER_BYTES + headerBytes + size + AEAD_TAG_BYTES;
    const perMessage = segmentsOf(peer, segment);
    if (count > perMessage * (MAX_MESSAGES - 1)) {
      this.counts.sendFailed += 1;
      return;
    }
    this.#closeRun();
    const start = this.#reserve(count * segment, count, count / perMessage);
    const { address } = this.#scratch;
    const head = SEGMENT_BYTES + headerBytes;
    for (let index = 0; index < count; index += 1) {
      const isLast = index === count - 1;
      const from = at - SEGMENT_BYTES + index * size;
      if (index > 0) memory.bytes.copyWithin(from, from - size, from - size + head);
      putSegmentHeader(memory.view, from, chunkFlags(isLast), index, size);
      const chunk = isLast ? payload - index * size : size;
      this.#seal(session, memory.address + from, head + chunk, start + index * segment);
      const isFull = (index + 1) % perMessage === 0;
      if (!isFull && !isLast) continue;
      const first = index - (index % perMessage);
      const bytes = (index - first) * segment + segment - size + chunk;
      const iovec = this.#sender.iovecCount;
      this.#sender.addPiece(address + start + first * segment, bytes);
      this.#message(peer, iovec, index === first ? 0 : segment);
    }
    peer.bytesOut += byteCount;
  }

  /** A message of a handshake, at once. */
  sendMessage(peer: Peer, message: Uint8Array): void {
    const at = this.#reserve(message.length, 1);
    this.#scratch.bytes.set(message, at);
    this.#single(peer, this.#scratch.address + at, message.length);
    this.flush();
  }

  /** Sends all that was queued; memory that it was given is free after that. */
  flush(): void {
    this.#closeRun();
    this.#scratchAt = 0;
    if (this.#sender.messages > 0) this.#sender.flush(this.#descriptor);
  }

  #seal(session: Session, from: number, byteCount: number, to: number): void {
    const { view, address } = this.#scratch;
    const counter = session.takeCounter();
    putSecurePrefix(view, to, session.remoteIndex, counter);
    session.sealing.seal(counter, from, byteCount, address + to + SECURE_PREFIX_BYTES);
  }

  /** Room in the scratch memory, and for so many pieces; what is queued leaves first where there is none. */
  #reserve(byteCount: number, pieces: number, messages = 1): number {
    const fits = this.#scratchAt + byteCount <= SCRATCH_BYTES;
    const more = Math.max(MAX_MESSAGES_A_PACKET, Math.ceil(messages) + 1);
    if (!fits || !this.#sender.hasRoom(more, pieces + MAX_SEGMENTS)) this.flush();
    const at = this.#scratchAt;
    this.#scratchAt += (byteCount + 15) & ~15;
    return at;
  }

  #single(peer: Peer, address: number, byteCount: number): void {
    const isOfRun =
      this.#runPeer === peer &&
      byteCount <= this.#runSegment &&
      this.#runCount < MAX_SEGMENTS &&
      !isCut(peer, this.#runSegment) &&
      this.#runBytes + byteCount <= MAX_MESSAGE_BYTES;
    if (!isOfRun) {
      this.#closeRun();
      if (!this.#sender.hasRoom(1, MAX_SEGMENTS)) this.flush();
      this.#runPeer = peer;
      this.#runFirst = this.#sender.iovecCount;
      this.#runSegment = byteCount;
    }
    this.#sender.addPiece(address, byteCount);
    this.#runCount += 1;
    this.#runBytes += byteCount;
    peer.bytesOut += byteCount;
    // Only the last one of a message may be shorter.
    if (byteCount < this.#runSegment) this.#closeRun();
  }

  #closeRun(): void {
    const peer = this.#runPeer;
    if (peer !== undefined) {
      this.#message(peer, this.#runFirst, this.#runCount > 1 ? this.#runSegment : 0);
    }
    this.#runPeer = undefined;
    this.#runCount = 0;
    this.#runBytes = 0;
  }

  #message(peer: Peer, firstIovec: number, segment: number): void {
    this.#peers[this.#sender.messages] = peer;
    this.#sender.add(firstIovec, peer.name.address, peer.nameBytes, segment);
  }
}

/** How many datagrams of a length leave as one message. */
function segmentsOf(peer: Peer, byteCount: number): number {
  if (isCut(peer, byteCount)) return 1;
  return Math.max(1, Math.min(MAX_SEGMENTS, Math.floor(MAX_MESSAGE_BYTES / byteCount)));
}

/** The kernel makes no datagrams of a message that are longer than the way allows. One that is alone it cuts. */
function isCut({ maxDatagramBytes }: Peer, byteCount: number): boolean {
  return maxDatagramBytes > 0 && byteCount > maxDatagramBytes;
}

function chunkFlags(isLast: boolean): number {
  return FLAG_PARTIAL | FLAG_CHUNK | (isLast ? FLAG_LAST : 0);
}
