import { familyOf } from "../../core/model/address.ts";
import { readIp, V4_BYTES, V6_BYTES, writeIp } from "../ip-bytes.ts";
import { MORE, malformed, type ProxiedConnection, type ProxyHeader } from "./proxy-header.ts";

export const V2_SIGNATURE: Buffer = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1");

const VERSION_AT = V2_SIGNATURE.length;
const FAMILY_AT = VERSION_AT + 1;
const LENGTH_AT = FAMILY_AT + 1;
const HEADER_BYTES = LENGTH_AT + 2;
/** Addresses and extensions; the format has room for more, but nobody needs it. */
const MAX_LENGTH = 4096;

const VERSION = 2;
const LOCAL = 0x20;
const PROXY = 0x21;
const UNSPECIFIED = 0x00;

interface Layout {
  readonly transport: "TCP" | "UDP";
  /** 0: paths of unix sockets, which are skipped. */
  readonly addressBytes: 0 | 4 | 16;
  /** Both addresses and both ports. */
  readonly bytes: number;
}

const UNIX_BYTES = 216;
const LAYOUTS: ReadonlyMap<number, Layout> = new Map<number, Layout>([
  [0x11, { transport: "TCP", addressBytes: V4_BYTES, bytes: 2 * (V4_BYTES + 2) }],
  [0x12, { transport: "UDP", addressBytes: V4_BYTES, bytes: 2 * (V4_BYTES + 2) }],
  [0x21, { transport: "TCP", addressBytes: V6_BYTES, bytes: 2 * (V6_BYTES + 2) }],
  [0x22, { transport: "UDP", addressBytes: V6_BYTES, bytes: 2 * (V6_BYTES + 2) }],
  [0x31, { transport: "TCP", addressBytes: 0, bytes: UNIX_BYTES }],
  [0x32, { transport: "UDP", addressBytes: 0, bytes: UNIX_BYTES }],
]);

/** Reads the binary form from `start`, where its signature stands. Extensions (TLVs) are skipped. */
export function parseProxyV2(bytes: Buffer, start: number, end: number): ProxyHeader {
  const command = end > start + VERSION_AT ? bytes[start + VERSION_AT] : undefined;
  if (command === undefined) return MORE;
  if (command >> 4 !== VERSION) return malformed(`version ${command >> 4}; expected 2`);
  if (command !== LOCAL && command !== PROXY) {
    return malformed(`command ${command & 0x0f}; expected 0 (LOCAL) or 1 (PROXY)`);
  }
  if (end - start < HEADER_BYTES) return MORE;
  const length = bytes.readUInt16BE(start + LENGTH_AT);
  if (length > MAX_LENGTH) return malformed(`${length} bytes long; expected ${MAX_LENGTH} at most`);
  const bodyEnd = start + HEADER_BYTES + length;
  if (end < bodyEnd) return MORE;
  const family = bytes[start + FAMILY_AT] ?? UNSPECIFIED;
  if (command === LOCAL || family === UNSPECIFIED) return headerOf(bodyEnd, undefined);
  return readConnection(bytes.subarray(start + HEADER_BYTES, bodyEnd), family, bodyEnd);
}

function readConnection(body: Buffer, family: number, end: number): ProxyHeader {
  const layout = LAYOUTS.get(family);
  if (layout === undefined) {
    return malformed(
      `family 0x${family.toString(16)}; expected TCP or UDP over IPv4, IPv6 or unix`,
    );
  }
  const { transport, addressBytes, bytes } = layout;
  if (body.length < bytes) return malformed(`${body.length} bytes of addresses; expected ${bytes}`);
  if (addressBytes === 0) return headerOf(end, undefined);
  const portsAt = 2 * addressBytes;
  return headerOf(end, {
    transport,
    source: { ip: readIp(body, 0, addressBytes), port: body.readUInt16BE(portsAt) },
    destination: {
      ip: readIp(body, addressBytes, addressBytes),
      port: body.readUInt16BE(portsAt + 2),
    },
  });
}

function headerOf(end: number, connection: ProxiedConnection | undefined): ProxyHeader {
  return { kind: "header", version: 2, end, connection };
}

/** For a connection that the proxy makes for itself, as a health check is. */
export function renderProxyV2Local(): Buffer {
  return renderHead(LOCAL, UNSPECIFIED, 0);
}

/** @param connection undefined where the ends are not known or have no addresses. */
export function renderProxyV2(connection: ProxiedConnection | undefined): Buffer {
  if (connection === undefined) return renderHead(PROXY, UNSPECIFIED, 0);
  const { source, destination, transport } = connection;
  const family = familyOf(source.ip);
  // Ends of two families can not be told.
  if (family !== familyOf(destination.ip)) return renderHead(PROXY, UNSPECIFIED, 0);
  const addressBytes = family === "v4" ? V4_BYTES : V6_BYTES;
  const code = (family === "v4" ? 0x10 : 0x20) | (transport === "TCP" ? 1 : 2);
  const body = Buffer.alloc(2 * V6_BYTES + 4);
  writeIp(source.ip, body, 0);
  writeIp(destination.ip, body, addressBytes);
  const portsAt = 2 * addressBytes;
  body.writeUInt16BE(source.port, portsAt);
  body.writeUInt16BE(destination.port, portsAt + 2);
  const length = portsAt + 4;
  return Buffer.concat([renderHead(PROXY, code, length), body.subarray(0, length)]);
}

function renderHead(command: number, family: number, length: number): Buffer {
  const rest = Buffer.from([command, family, length >> 8, length & 0xff]);
  return Buffer.concat([V2_SIGNATURE, rest]);
}
