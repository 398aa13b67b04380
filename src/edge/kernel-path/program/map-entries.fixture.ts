/** What stands in the maps, as bytes. */
import { wordsOfIp } from "../../../wire/ip/address-words.ts";
import { FLOW_KEY, SENDER_KEY } from "../layout.ts";

export const NS_BYTES = 8;
export const NUMBER_BYTES = 4;
const ADDRESS_BYTES = 16;

export interface Ends {
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

export function addressOf(ip: string): Buffer {
  const bytes = Buffer.alloc(ADDRESS_BYTES);
  const { w0, w1, w2, w3 } = wordsOfIp(ip);
  for (const [index, word] of [w0, w1, w2, w3].entries()) bytes.writeInt32BE(word, index * 4);
  return bytes;
}

export function senderKey(way: {
  readonly receiver: number;
  readonly remoteIp: string;
  readonly port: number;
}): Buffer {
  const key = Buffer.alloc(SENDER_KEY.bytes);
  key.writeUInt32LE(way.receiver, SENDER_KEY.receiver);
  key.set(addressOf(way.remoteIp).subarray(-4), SENDER_KEY.remoteIp);
  key.writeUInt16BE(way.port, SENDER_KEY.remotePort);
  return key;
}

export function flowKey(protocol: number, ends: Ends): Buffer {
  const key = Buffer.alloc(FLOW_KEY.bytes);
  putEnds(key, ends);
  key.writeUInt8(protocol, FLOW_KEY.protocol);
  key.writeUInt8(ends.source.includes(":") ? 1 : 0, FLOW_KEY.isV6);
  return key;
}

export function putEnds(bytes: Buffer, ends: Ends): void {
  bytes.set(addressOf(ends.source), FLOW_KEY.source);
  bytes.set(addressOf(ends.destination), FLOW_KEY.destination);
  bytes.writeUInt16BE(ends.sourcePort, FLOW_KEY.sourcePort);
  bytes.writeUInt16BE(ends.destinationPort, FLOW_KEY.destinationPort);
}

export function number(value: number): Buffer {
  const bytes = Buffer.alloc(NUMBER_BYTES);
  bytes.writeUInt32LE(value);
  return bytes;
}

export function wide(value: bigint): Buffer {
  const bytes = Buffer.alloc(NS_BYTES);
  bytes.writeBigUInt64LE(value);
  return bytes;
}
