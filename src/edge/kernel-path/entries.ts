/** Keys and values of the maps of the kernel path, as `layout.ts` has them. */
import { type PacketEnds, putV6 } from "../../wire/ip/translate.ts";
import type { NetworkEntry } from "../flows/prefix-map.ts";
import {
  FLOW_KEY,
  FLOW_VALUE,
  MODE_FAST,
  MODE_SECURE,
  PEER_VALUE,
  ROUTE_KEY,
  SENDER_KEY,
  SENDER_VALUE,
  SETTING,
} from "./layout.ts";

export type KernelMode = "fast" | "secure";

/** An address of IPv4 as a number, and a port. */
export interface Endpoint {
  readonly ip: number;
  readonly port: number;
}

export function numberBytes(number: number): Uint8Array {
  const { bytes, view } = room(4);
  view.setUint32(0, number, true);
  return bytes;
}

export function settingValue(setting: {
  readonly isOn: boolean;
  readonly tun: number;
  readonly localPort: number;
}): Uint8Array {
  const { bytes, view } = room(SETTING.bytes);
  view.setUint32(SETTING.isOn, setting.isOn ? 1 : 0, true);
  view.setUint32(SETTING.tun, setting.tun, true);
  view.setUint16(SETTING.localPort, setting.localPort);
  return bytes;
}

/** By how packets of a direction look when they come. */
export function flowKey(protocol: number, from: PacketEnds): Uint8Array {
  const { bytes, view } = room(FLOW_KEY.bytes);
  putEnds(view, from, FLOW_KEY);
  view.setUint8(FLOW_KEY.protocol, protocol);
  view.setUint8(FLOW_KEY.isV6, from.source.isV6 ? 1 : 0);
  return bytes;
}

export interface FlowFacts {
  readonly to: PacketEnds;
  readonly isBack: boolean;
  readonly isOpen: boolean;
  readonly place: number;
}

export function flowValue({ to, isBack, isOpen, place }: FlowFacts): Uint8Array {
  const { bytes, view } = room(FLOW_VALUE.bytes);
  putEnds(view, to, FLOW_VALUE);
  view.setUint8(FLOW_VALUE.isBack, isBack ? 1 : 0);
  view.setUint8(FLOW_VALUE.isOpen, isOpen ? 1 : 0);
  view.setUint32(FLOW_VALUE.place, place, true);
  return bytes;
}

/** 0 where no program has used it since it was written. */
export function lastUsedNsIn(value: Uint8Array): bigint {
  return viewOf(value).getBigUint64(FLOW_VALUE.lastUsedNs, true);
}

export interface PeerFacts {
  readonly mode: KernelMode;
  readonly link: number;
  readonly local: Endpoint;
  readonly remote: Endpoint;
  readonly receiver: number;
  readonly record: number;
}

/** Without its key and check, which the mirror adds in the copy that it hands over. */
export function peerValue(peer: PeerFacts): Uint8Array {
  const { bytes, view } = room(PEER_VALUE.bytes);
  view.setUint32(PEER_VALUE.mode, modeNumber(peer.mode), true);
  view.setUint32(PEER_VALUE.link, peer.link, true);
  view.setUint32(PEER_VALUE.localIp, peer.local.ip);
  view.setUint32(PEER_VALUE.remoteIp, peer.remote.ip);
  view.setUint16(PEER_VALUE.localPort, peer.local.port);
  view.setUint16(PEER_VALUE.remotePort, peer.remote.port);
  view.setUint32(PEER_VALUE.receiver, peer.receiver, true);
  view.setUint32(PEER_VALUE.record, peer.record, true);
  return bytes;
}

export function senderKey(receiver: number, remote: Endpoint): Uint8Array {
  const { bytes, view } = room(SENDER_KEY.bytes);
  view.setUint32(SENDER_KEY.receiver, receiver, true);
  view.setUint32(SENDER_KEY.remoteIp, remote.ip);
  view.setUint16(SENDER_KEY.remotePort, remote.port);
  return bytes;
}

export interface SenderFacts {
  readonly mode: KernelMode;
  readonly peer: number;
  readonly localIp: number;
  readonly record: number;
}

/** Without its key and check, which the mirror adds in the copy that it hands over. */
export function senderValue(sender: SenderFacts): Uint8Array {
  const { bytes, view } = room(SENDER_VALUE.bytes);
  view.setUint32(SENDER_VALUE.mode, modeNumber(sender.mode), true);
  view.setUint32(SENDER_VALUE.peer, sender.peer, true);
  view.setUint32(SENDER_VALUE.localIp, sender.localIp);
  view.setUint32(SENDER_VALUE.record, sender.record, true);
  return bytes;
}

/** Of all that stands before it in a value, and of what the value is found by: words of 8 bytes, one of 4 at the end. */
export function checkOf(key: Uint8Array, before: Uint8Array): bigint {
  return wordsOf(key) ^ wordsOf(before);
}

export function routeKey({ isV6, prefix, network }: NetworkEntry<unknown>): Uint8Array {
  const { bytes, view } = room(isV6 ? ROUTE_KEY.v6Bytes : ROUTE_KEY.v4Bytes);
  view.setUint32(ROUTE_KEY.prefix, prefix, true);
  if (isV6) putV6(view, ROUTE_KEY.address, network);
  else view.setInt32(ROUTE_KEY.address, network.w3);
  return bytes;
}

interface EndsPlace {
  readonly source: number;
  readonly destination: number;
  readonly sourcePort: number;
  readonly destinationPort: number;
}

function putEnds(view: DataView, { source, destination, ports }: PacketEnds, at: EndsPlace): void {
  // Those of IPv4 are in the last word, behind zeros.
  putV6(view, at.source, source);
  putV6(view, at.destination, destination);
  view.setUint16(at.sourcePort, ports >>> 16);
  view.setUint16(at.destinationPort, ports & 0xffff);
}

function modeNumber(mode: KernelMode): number {
  return mode === "fast" ? MODE_FAST : MODE_SECURE;
}

function wordsOf(bytes: Uint8Array): bigint {
  const view = viewOf(bytes);
  const whole = bytes.length - (bytes.length % 8);
  let sum = whole < bytes.length ? BigInt(view.getUint32(whole, true)) : 0n;
  for (let at = 0; at < whole; at += 8) sum ^= view.getBigUint64(at, true);
  return sum;
}

function room(byteCount: number): { readonly bytes: Uint8Array; readonly view: DataView } {
  const bytes = new Uint8Array(byteCount);
  return { bytes, view: viewOf(bytes) };
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
