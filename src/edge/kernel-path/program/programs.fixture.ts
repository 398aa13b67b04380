/** A program that is loaded, with maps that hold one peer and one session, and the datagrams of that. */
import { createCipheriv, createDecipheriv } from "node:crypto";
import { closeSync } from "node:fs";
import {
  ATTACH_TYPE,
  PACKET_CONTEXT,
  PROGRAM_TYPE,
} from "../../../platform/linux/bpf/bpf-numbers.ts";
import { loadProgram, runProgram } from "../../../platform/linux/bpf/bpf-program.ts";
import { checksumOf, sumOf } from "../../../wire/ip/checksum.ts";
import { viewOf } from "../../../wire/ip/packets.fixture.ts";
import { type KernelPathMaps, MODE_FAST, MODE_SECURE, THIS_NODE } from "../layout.ts";
import { FilledMaps, type Way } from "./kernel-path-maps.fixture.ts";
import { addressOf } from "./map-entries.fixture.ts";

export const PEER = 7;
const OTHER_PEER = 8;
export const PLACE = 3;
export const RECORD_NUMBER = 2;
const TAG_BYTES = 16;
const LINK = 1;
const TUN = 1;
const ROOM_BYTES = 2048;
const OUTER_BYTES = 42;

const KEY: Buffer = Buffer.from(Array.from({ length: 32 }, (_, index) => index * 7));

/** From here to the peer; the other way round with the ends exchanged. */
export const WAY: Omit<Way, "mode"> = {
  localIp: "192.168.1.2",
  remoteIp: "192.168.2.2",
  port: 50_103,
  receiver: 0x1234_5678,
  record: RECORD_NUMBER,
  key: KEY,
};

/** As workloads of the peer and of this node have them. */
const NETWORKS = {
  peer: ["10.18.2.0/26", "fc00:2::/64"],
  otherPeer: ["10.18.3.0/26", "fc00:3::/64"],
  here: ["10.18.1.0/26", "fc00:1::/64"],
} as const;

export class LoadedProgram {
  readonly maps: FilledMaps = new FilledMaps();
  readonly #program: number;

  constructor(assemble: (maps: KernelPathMaps) => Uint8Array, mode: number = MODE_SECURE) {
    const { maps } = this;
    maps.set(true, TUN, WAY.port);
    maps.addPeer(PEER, { ...WAY, mode }, LINK);
    maps.addSender(PEER, { ...WAY, mode });
    maps.addPlace(PLACE, PEER);
    for (const [networks, peer] of [
      [NETWORKS.peer, PEER],
      [NETWORKS.otherPeer, OTHER_PEER],
      [NETWORKS.here, THIS_NODE],
    ] as const) {
      for (const network of networks) {
        const [address = "", bits] = network.split("/");
        maps.addRoute(address, Number(bits), peer);
      }
    }
    this.#program = loadProgram({
      name: "tested",
      type: PROGRAM_TYPE.schedClassifier,
      attachType: ATTACH_TYPE.tcxIngress,
      instructions: assemble(maps.descriptors),
    });
  }

  /** `returned` has its sign. */
  run(packet: Uint8Array, gsoBytes = 0): { returned: number; output: Buffer } {
    const context = Buffer.alloc(PACKET_CONTEXT.bytes);
    context.writeUInt32LE(gsoBytes, PACKET_CONTEXT.gsoBytes);
    const { returned, output } = runProgram(this.#program, packet, ROOM_BYTES, { context });
    return { returned: returned | 0, output: Buffer.from(output) };
  }

  close(): void {
    closeSync(this.#program);
    this.maps.close();
  }
}

export interface DatagramSpec {
  readonly mode?: number;
  readonly counter?: bigint;
  readonly key?: Uint8Array;
  readonly receiver?: number;
  readonly source?: string;
  readonly destination?: string;
  readonly sourcePort?: number;
  readonly destinationPort?: number;
  readonly segment?: Uint8Array;
  readonly packet: Uint8Array;
}

/** A frame with a datagram that the peer sent, as the tunnel sends it. */
export function frameOf(spec: DatagramSpec): Buffer {
  const { mode = MODE_SECURE, counter = 0n, key = KEY, receiver = WAY.receiver } = spec;
  const text = Buffer.concat([spec.segment ?? Buffer.alloc(8), spec.packet]);
  const prefix = Buffer.alloc(mode === MODE_FAST ? 8 : 16);
  prefix.writeUInt32LE(mode === MODE_FAST ? 0x11 : 4, 0);
  prefix.writeUInt32LE(receiver, 4);
  if (mode === MODE_SECURE) prefix.writeBigUInt64LE(counter, 8);
  const body = mode === MODE_FAST ? text : sealed(key, counter, text);
  const headers = Buffer.alloc(OUTER_BYTES);
  headers.write("0000000000000303030303030800", "hex");
  const length = 28 + prefix.length + body.length;
  headers.writeUInt16BE(0x4500, 14);
  headers.writeUInt16BE(length, 16);
  headers.writeUInt16BE(0x4011, 22);
  headers.set(addressOf(spec.source ?? WAY.remoteIp).subarray(-4), 26);
  headers.set(addressOf(spec.destination ?? WAY.localIp).subarray(-4), 30);
  headers.writeUInt16BE(checksumOf(sumOf(viewOf(headers), 14, 20)), 24);
  headers.writeUInt16BE(spec.sourcePort ?? WAY.port, 34);
  headers.writeUInt16BE(spec.destinationPort ?? WAY.port, 36);
  headers.writeUInt16BE(length - 20, 38);
  return Buffer.concat([headers, prefix, body]);
}

/** What a datagram holds: type, receiver, and the text, opened with the key where it is sealed. */
export function textIn(payload: Buffer): {
  type: number;
  receiver: number;
  counter: bigint;
  text: Buffer;
} {
  const type = payload.readUInt32LE(0);
  const receiver = payload.readUInt32LE(4);
  if (type === 0x11) return { type, receiver, counter: -1n, text: payload.subarray(8) };
  const counter = payload.readBigUInt64LE(8);
  const decipher = createDecipheriv("chacha20-poly1305", KEY, nonceOf(counter), {
    authTagLength: TAG_BYTES,
  });
  decipher.setAuthTag(payload.subarray(-TAG_BYTES));
  const text = Buffer.concat([decipher.update(payload.subarray(16, -TAG_BYTES)), decipher.final()]);
  return { type, receiver, counter, text };
}

function sealed(key: Uint8Array, counter: bigint, text: Uint8Array): Buffer {
  const cipher = createCipheriv("chacha20-poly1305", key, nonceOf(counter), {
    authTagLength: TAG_BYTES,
  });
  return Buffer.concat([cipher.update(text), cipher.final(), cipher.getAuthTag()]);
}

function nonceOf(counter: bigint): Buffer {
  const nonce = Buffer.alloc(12);
  nonce.writeBigUInt64LE(counter, 4);
  return nonce;
}

/** The same bytes each time: a checksum has two forms of 0, which random ones would meet now and then. */
export function payloadOf(byteCount: number): Buffer {
  return Buffer.from(
    Array.from({ length: byteCount }, (_, index) => (index * 37 + byteCount) & 0xff),
  );
}
