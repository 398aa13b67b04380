import type { NativeMemory } from "../../platform/linux/native-memory.ts";
import { AEAD_TAG_BYTES } from "../../platform/linux/openssl/aead-key.ts";
import { VNET_BYTES } from "../../platform/linux/tun-device.ts";
import { fold, pseudoHeaderSum } from "../../wire/ip/checksum.ts";
import { clampMss } from "../../wire/ip/clamp-mss.ts";
import {
  PROTOCOL_TCP,
  PROTOCOL_UDP,
  TCP_CWR,
  TCP_FIN,
  TCP_FLAGS,
  TCP_PSH,
  TCP_SEQUENCE,
  UDP_CHECKSUM,
  UDP_HEADER_BYTES,
  V4_SOURCE,
  V6_SOURCE,
} from "../../wire/ip/ip-numbers.ts";
import { NOT_A_FRAGMENT } from "../../wire/ip/ip-packet.ts";
import { ipLength, setIpLength, setL4Length } from "../../wire/ip/set-length.ts";
import { LOCAL, type PacketRouter } from "../flows/packet-router.ts";
import { isNextChunk, isSameUdpFlow, isUdp } from "./packet-runs.ts";
import type { Peer } from "./peer.ts";
import type { TunWriter } from "./tun-writer.ts";
import { putPartialVirtio, putPlainVirtio } from "./virtio-header.ts";
import {
  FLAG_CHUNK,
  FLAG_LAST,
  FLAG_PARTIAL,
  SECURE_HEADER_BYTES,
  SEGMENT_BYTES,
  segmentFlags,
  segmentIndex,
  segmentSize,
} from "./wire-form.ts";

/** Datagrams of one message, one after the other, with who sent each of them. */
export interface DatagramRun {
  readonly memory: NativeMemory;
  readonly start: number;
  /** How long each is but the last. */
  readonly stride: number;
  /** All of them together. */
  readonly byteCount: number;
  readonly count: number;
  /** Undefined where nothing more is to be done with it. */
  readonly peers: readonly (Peer | undefined)[];
  /** Where the packet begins in each. */
  readonly heads: Uint8Array;
}

const MAX_RUN = 64;
const MAX_PACKET_BYTES = 65_000;

/** Gives packets of peers to the kernel, those that belong together as one super-packet. */
export class PacketSink {
  readonly #router: PacketRouter<Peer>;
  readonly #writer: TunWriter;
  readonly #mtu: number;
  /** Whether super-packets of UDP can be written. */
  takesUdpRuns = false;

  constructor(router: PacketRouter<Peer>, writer: TunWriter, mtu: number) {
    this.#router = router;
    this.#writer = writer;
    this.#mtu = mtu;
  }

  takeRuns(run: DatagramRun, nowMs: number): void {
    let first = 0;
    while (first < run.count) {
      const peer = run.peers[first];
      first = peer === undefined ? first + 1 : this.#takeRun(run, first, peer, nowMs);
    }
  }

  /** Returns where the next one begins. */
  #takeRun(run: DatagramRun, first: number, peer: Peer, nowMs: number): number {
    const head = run.heads[first] ?? 0;
    const segment = run.start + first * run.stride + head - SEGMENT_BYTES;
    const flags = head === 0 ? 0 : segmentFlags(run.memory.view, segment);
    if ((flags & FLAG_CHUNK) !== 0) {
      const end = this.#endOfChunks(run, first, head);
      this.#takeChunks(run, first, end, head, peer, nowMs);
      return end;
    }
    const end = this.#endOfUdp(run, first, head);
    if (end - first > 1) this.#takeUdp(run, first, end, head, peer, nowMs);
    else this.#takeSingle(run, first, head, peer, (flags & FLAG_PARTIAL) !== 0, nowMs);
    return end;
  }

  #takeSingle(
    run: DatagramRun,
    index: number,
    head: number,
    peer: Peer,
    isPartial: boolean,
    nowMs: number,
  ): void {
    const { memory } = run;
    const at = run.start + index * run.stride + head;
    const byteCount = packetBytes(run, index, head);
    const { packet } = this.#router;
    if (this.#router.fromPeer(peer, memory.view, at, byteCount, isPartial, nowMs) !== LOCAL) return;
    clampMss(memory.view, at, packet, this.#mtu, isPartial);
    const isL4 = packet.protocol === PROTOCOL_TCP || packet.protocol === PROTOCOL_UDP;
    if (isPartial && isL4 && packet.fragment === NOT_A_FRAGMENT) {
      putPartialVirtio(memory.view, at - VNET_BYTES, packet, 0, 0);
    } else putPlainVirtio(memory.view, at - VNET_BYTES);
    this.#writer.write(memory.address + at - VNET_BYTES, VNET_BYTES + packet.byteCount);
  }

  /** Consecutive pieces of one super-packet. */
  #takeChunks(
    run: DatagramRun,
    first: number,
    end: number,
    head: number,
    peer: Peer,
    nowMs: number,
  ): void {
    const { view } = run.memory;
    const at = run.start + first * run.stride + head;
    const bytes = packetBytes(run, first, head);
    const claimed = bytes < SMALLEST_PACKET ? 0 : ipLength(view, at);
    if (claimed === 0) {
      this.#refuse();
      return;
    }
    const index = segmentIndex(view, at - SEGMENT_BYTES);
    const size = segmentSize(view, at - SEGMENT_BYTES);
    const lastAt = run.start + (end - 1) * run.stride + head;
    const isEnd = (segmentFlags(view, lastAt - SEGMENT_BYTES) & FLAG_LAST) !== 0;
    setIpLength(view, at, bytes);
    if (this.#router.fromPeer(peer, view, at, bytes, true, nowMs) !== LOCAL) return;
    const { packet } = this.#router;
    const isTcp = packet.protocol === PROTOCOL_TCP;
    const isOfPieces = isTcp || packet.protocol === PROTOCOL_UDP;
    const headerBytes = isOfPieces ? packet.headerBytes(view, at) : 0;
    const firstPiece = bytes - headerBytes;
    const lastPiece = packetBytes(run, end - 1, head) - headerBytes;
    const hasRightSizes =
      (end - 1 === first || firstPiece === size) && isRightLast(lastPiece, size, isEnd);
    if (!isOfPieces || packet.fragment !== NOT_A_FRAGMENT || !hasRightSizes) {
      this.#refuse();
      return;
    }
    const payload = (end - 1 - first) * size + lastPiece;
    if (isTcp) {
      const l4 = at + packet.l4At;
      view.setUint32(l4 + TCP_SEQUENCE, view.getUint32(l4 + TCP_SEQUENCE) + index * size);
      const gone = (isEnd ? 0 : TCP_FIN | TCP_PSH) | (index === 0 ? 0 : TCP_CWR);
      packet.tcpFlags &= ~gone;
      view.setUint8(l4 + TCP_FLAGS, packet.tcpFlags);
    }
    setIpLength(view, at, headerBytes + payload);
    setL4Length(view, at, packet, claimed, headerBytes + payload);
    putPartialVirtio(view, at - VNET_BYTES, packet, headerBytes, payload > size ? size : 0);
    this.#write(run, first, end, head, headerBytes);
  }

  #refuse(): void {
    this.#router.counts.malformed += 1;
  }

  /** Single packets of one length and one flow of UDP. */
  #takeUdp(
    run: DatagramRun,
    first: number,
    end: number,
    head: number,
    peer: Peer,
    nowMs: number,
  ): void {
    const { view } = run.memory;
    const at = run.start + first * run.stride + head;
    const bytes = packetBytes(run, first, head);
    const isV6 = view.getUint8(at) >>> 4 === 6;
    const l4At = isV6 ? 40 : 20;
    const addresses = { addresses: at + (isV6 ? V6_SOURCE : V4_SOURCE), byteCount: isV6 ? 32 : 8 };
    const pseudo = pseudoHeaderSum(view, addresses, PROTOCOL_UDP, bytes - l4At);
    view.setUint16(at + l4At + UDP_CHECKSUM, fold(pseudo));
    if (this.#router.fromPeer(peer, view, at, bytes, true, nowMs) !== LOCAL) return;
    const { packet } = this.#router;
    const headerBytes = l4At + UDP_HEADER_BYTES;
    const size = bytes - headerBytes;
    const total = headerBytes + size * (end - first);
    setIpLength(view, at, total);
    setL4Length(view, at, packet, bytes, total);
    putPartialVirtio(view, at - VNET_BYTES, packet, headerBytes, size);
    this.#write(run, first, end, head, headerBytes);
  }

  /** The first with its headers, of the others what comes after. */
  #write(run: DatagramRun, first: number, end: number, head: number, headerBytes: number): void {
    const base = run.memory.address + run.start + head;
    const from = base + first * run.stride - VNET_BYTES;
    this.#writer.addPiece(from, VNET_BYTES + packetBytes(run, first, head));
    for (let index = first + 1; index < end; index += 1) {
      const at = base + index * run.stride + headerBytes;
      this.#writer.addPiece(at, packetBytes(run, index, head) - headerBytes);
    }
    this.#writer.writePieces();
  }

  #endOfChunks(run: DatagramRun, first: number, head: number): number {
    const { view } = run.memory;
    const base = run.start + first * run.stride + head;
    const canJoin = this.takesUdpRuns || !isUdp(view, base);
    const limit = canJoin ? Math.min(run.count, first + MAX_RUN) : first + 1;
    let next = first + 1;
    while (next < limit && run.peers[next] === run.peers[first] && run.heads[next] === head) {
      const at = run.start + next * run.stride + head;
      if (!isNextChunk(view, base, at, next - first)) break;
      next += 1;
    }
    return next;
  }

  #endOfUdp(run: DatagramRun, first: number, head: number): number {
    const { view } = run.memory;
    const base = run.start + first * run.stride + head;
    const bytes = packetBytes(run, first, head);
    if (!this.takesUdpRuns || head === 0 || run.count - first < 2) return first + 1;
    // Empty ones would become one: nothing says then how many they were.
    const hasPayload = bytes > (view.getUint8(base) >>> 4 === 6 ? V6_UDP_BYTES : V4_UDP_BYTES);
    if (!hasPayload || !isUdp(view, base) || ipLength(view, base) !== bytes) return first + 1;
    const limit = Math.min(first + MAX_RUN, first + Math.floor(MAX_PACKET_BYTES / run.stride));
    let next = first + 1;
    while (next < Math.min(run.count, limit) && run.peers[next] === run.peers[first]) {
      const at = run.start + next * run.stride + head;
      const isFull = packetBytes(run, next, head) === bytes && run.heads[next] === head;
      if (!isFull || !isSameUdpFlow(view, base, at)) break;
      next += 1;
    }
    return next;
  }
}

const SMALLEST_PACKET = 40;
/** All headers of a datagram without options. */
const V4_UDP_BYTES = 28;
const V6_UDP_BYTES = 48;

/** All but the last one are as long as they say: else the kernel would cut them anew, as small as a peer likes. */
function isRightLast(piece: number, size: number, isEnd: boolean): boolean {
  return isEnd ? piece > 0 && piece <= size : piece > 0 && piece === size;
}

function packetBytes(run: DatagramRun, index: number, head: number): number {
  const tail = head === SECURE_HEADER_BYTES ? AEAD_TAG_BYTES : 0;
  return Math.min(run.stride, run.byteCount - index * run.stride) - head - tail;
}
