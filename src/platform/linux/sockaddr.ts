import ipaddr from "ipaddr.js";
import { CoreError } from "../../core/errors.ts";
import { ipAddress, type SocketAddress, unixAddress } from "../socket-address.ts";
import {
  AF_INET,
  AF_INET6,
  AF_UNIX,
  SOCKADDR_IN_BYTES,
  SOCKADDR_IN6_BYTES,
  SUN_PATH_BYTES,
} from "./abi.ts";

/** ip(7), ipv6(7), unix(7): where the fields are. */
const PORT = 2;
const PORT_RANGE = 65_536;
const V4_ADDRESS = 4;
const V6_ADDRESS = 8;
const V6_ADDRESS_BYTES = 16;
const SUN_PATH = 2;

const utf8 = { encoder: new TextEncoder(), decoder: new TextDecoder() };

export function domainOf(address: SocketAddress): number {
  if (address.family === "unix") return AF_UNIX;
  return address.family === "v4" ? AF_INET : AF_INET6;
}

/** Writes a sockaddr and returns its length. */
export function putSockaddr(view: DataView, offset: number, address: SocketAddress): number {
  view.setUint16(offset, domainOf(address), true);
  if (address.family === "unix") return putUnix(view, offset, address.path);
  view.setUint16(offset + PORT, address.port);
  if (address.family === "v4") {
    view.setUint32(offset + V4_ADDRESS, ipv4Number(address.ip));
    view.setFloat64(offset + SOCKADDR_IN_BYTES - 8, 0);
    return SOCKADDR_IN_BYTES;
  }
  view.setUint32(offset + 4, 0);
  const bytes = ipaddr.IPv6.parse(address.ip).toByteArray();
  for (const [index, byte] of bytes.entries()) view.setUint8(offset + V6_ADDRESS + index, byte);
  view.setUint32(offset + V6_ADDRESS + V6_ADDRESS_BYTES, 0);
  return SOCKADDR_IN6_BYTES;
}

/** A path ends with a zero byte; an abstract name begins with one and has none at its end. */
function putUnix(view: DataView, offset: number, path: string): number {
  const isAbstract = path.startsWith("@");
  const bytes = utf8.encoder.encode(isAbstract ? `\0${path.slice(1)}` : `${path}\0`);
  if (bytes.length > SUN_PATH_BYTES) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `path of a unix socket: "${path}" is too long; at most ${SUN_PATH_BYTES - 1} bytes`,
    );
  }
  for (const [index, byte] of bytes.entries()) view.setUint8(offset + SUN_PATH + index, byte);
  return SUN_PATH + bytes.length;
}

/** Reads a sockaddr of the length that the kernel gave. */
export function getSockaddr(view: DataView, offset: number, length: number): SocketAddress {
  const family = length < SUN_PATH ? AF_UNIX : view.getUint16(offset, true);
  if (family === AF_INET) {
    return ipAddress(ipv4Text(view.getUint32(offset + V4_ADDRESS)), view.getUint16(offset + PORT));
  }
  if (family === AF_INET6) {
    const bytes = bytesAt(view, offset + V6_ADDRESS, V6_ADDRESS_BYTES);
    const ip = new ipaddr.IPv6([...bytes]).toRFC5952String();
    return ipAddress(ip, view.getUint16(offset + PORT));
  }
  return unixAddress(getUnix(bytesAt(view, offset + SUN_PATH, Math.max(0, length - SUN_PATH))));
}

function getUnix(bytes: Uint8Array): string {
  if (bytes.length === 0) return "";
  if (bytes[0] === 0) return `@${utf8.decoder.decode(bytes.subarray(1))}`;
  const end = bytes.indexOf(0);
  return utf8.decoder.decode(end < 0 ? bytes : bytes.subarray(0, end));
}

function bytesAt(view: DataView, offset: number, byteCount: number): Uint8Array {
  return new Uint8Array(view.buffer, view.byteOffset + offset, byteCount);
}

/**
 * The same for the same sockaddr, for the keys of a map: IPv4 address and port as one number below
 * 2^48, without making text of it; the bytes as text for others.
 */
export function sockaddrKey(view: DataView, offset: number, length: number): number | string {
  if (view.getUint16(offset, true) === AF_INET) {
    return view.getUint32(offset + V4_ADDRESS) * PORT_RANGE + view.getUint16(offset + PORT);
  }
  return Buffer.from(bytesAt(view, offset, length)).toString("latin1");
}

/** `10.0.0.1` for 0x0a000001. */
export function ipv4Text(address: number): string {
  return `${address >>> 24}.${(address >>> 16) & 255}.${(address >>> 8) & 255}.${address & 255}`;
}

/** 0x0a000001 for an address as `canonicalIp` writes it. By hand: it is done for every connection. */
export function ipv4Number(ip: string): number {
  let number = 0;
  let part = 0;
  for (let index = 0; index < ip.length; index += 1) {
    const code = ip.charCodeAt(index);
    if (code === DOT) {
      number = number * 256 + part;
      part = 0;
    } else {
      part = part * 10 + code - DIGIT_0;
    }
  }
  return number * 256 + part;
}

const DOT = 0x2e;
const DIGIT_0 = 0x30;
