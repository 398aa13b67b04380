import { canonicalIp, isHostName } from "../../core/model/address.ts";
import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../ip-bytes.ts";
import { ADDRESS_NAME, ADDRESS_V4, ADDRESS_V6, type Socks5Address } from "./socks5-words.ts";

const PORT_BYTES = 2;

/** `unsupported`: of a type that is not known. `malformed`: a name that is none. */
export type AddressOutcome =
  | { readonly kind: "more" }
  | { readonly kind: "unsupported" }
  | { readonly kind: "malformed" }
  | { readonly kind: "address"; readonly address: Socks5Address; readonly end: number };

const MORE: AddressOutcome = Object.freeze({ kind: "more" });
const UNSUPPORTED: AddressOutcome = Object.freeze({ kind: "unsupported" });
const MALFORMED: AddressOutcome = Object.freeze({ kind: "malformed" });

/** Reads type, address and port from `at`. */
export function readSocks5Address(bytes: Buffer, at: number): AddressOutcome {
  if (at >= bytes.length) return MORE;
  switch (bytes[at]) {
    case ADDRESS_V4:
      return readIpAddress(bytes, at + 1, V4_BYTES);
    case ADDRESS_V6:
      return readIpAddress(bytes, at + 1, V6_BYTES);
    case ADDRESS_NAME:
      return readName(bytes, at + 1);
    default:
      return UNSUPPORTED;
  }
}

function readIpAddress(bytes: Buffer, at: number, length: 4 | 16): AddressOutcome {
  const end = at + length + PORT_BYTES;
  if (bytes.length < end) return MORE;
  const host = readIp(bytes, at, length);
  return { kind: "address", end, address: addressOf(host, false, bytes.readUInt16BE(at + length)) };
}

/** Some clients send an address as if it were a name. */
function readName(bytes: Buffer, at: number): AddressOutcome {
  const start = at + 1;
  const nameEnd = start + (bytes[at] ?? 0);
  const end = nameEnd + PORT_BYTES;
  if (at >= bytes.length || bytes.length < end) return MORE;
  const text = bytes.toString("latin1", start, nameEnd);
  const ip = canonicalIp(text);
  if (ip === undefined && !isHostName(text)) return MALFORMED;
  const host = ip ?? text.toLowerCase().replace(/\.$/, "");
  return {
    kind: "address",
    end,
    address: addressOf(host, ip === undefined, bytes.readUInt16BE(nameEnd)),
  };
}

function addressOf(host: string, isName: boolean, port: number): Socks5Address {
  return { host, isName, port };
}

/** Type, address and port of an IP address. */
export function renderSocks5Address(ip: string, port: number): Buffer {
  const bytes = Buffer.alloc(1 + V6_BYTES + PORT_BYTES);
  const length = writeIp(ip, bytes, 1);
  bytes[0] = length === V6_BYTES ? ADDRESS_V6 : ADDRESS_V4;
  // Something without an address, as a unix socket, is told as 0.0.0.0.
  const portAt = 1 + Math.max(length, V4_BYTES);
  if (length === 0) bytes.fill(0, 1);
  bytes.writeUInt16BE(port, portAt);
  return bytes.subarray(0, portAt + PORT_BYTES);
}
