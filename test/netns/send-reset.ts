import { familyOf } from "../../src/core/model/address.ts";
import { IPPROTO_TCP, SOCK_CLOEXEC } from "../../src/platform/linux/abi.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { domainOf } from "../../src/platform/linux/sockaddr.ts";
import { socket } from "../../src/platform/linux/socket-calls.ts";
import { bindTo } from "../../src/platform/linux/socket-names.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { V6_BYTES, writeIp } from "../../src/wire/ip-bytes.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import { sendTo } from "./sockets.ts";
import type { StreamPlace } from "./tcp-streams.ts";

const SOCK_RAW = 3;
const HEADER_BYTES = 20;
const RST_AND_ACK = 0x14;

/** A reset of that connection from who does not know where it is. */
export function sendReset(network: NamespaceNetwork, place: StreamPlace, sequence: number): void {
  const { from, fromPort, to, port } = place;
  const bytes = Buffer.alloc(HEADER_BYTES);
  bytes.writeUInt16BE(fromPort, 0);
  bytes.writeUInt16BE(port, 2);
  bytes.writeUInt32BE(sequence, 4);
  bytes.writeUInt8((HEADER_BYTES / 4) << 4, 12);
  bytes.writeUInt8(RST_AND_ACK, 13);
  const pseudoHeader = [...ipBytes(from), ...ipBytes(to), 0, IPPROTO_TCP, 0, HEADER_BYTES];
  bytes.writeUInt16BE(checksum(Buffer.from([...pseudoHeader, ...bytes])), 16);
  network.inside(place.party, () => {
    const fd = checked(
      "socket",
      socket(domainOf(ipAddress(to, 0)), SOCK_RAW | SOCK_CLOEXEC, IPPROTO_TCP),
    );
    try {
      checked("bind", bindTo(fd, ipAddress(from, 0)));
      checked("sendmmsg", sendTo(fd, bytes, ipAddress(to, 0)), familyOf(to));
    } finally {
      close(fd);
    }
  });
}

function ipBytes(ip: string): Uint8Array {
  const bytes = new Uint8Array(V6_BYTES);
  return bytes.subarray(0, writeIp(ip, bytes, 0));
}

/** That of the Internet, of an even count of bytes. */
function checksum(bytes: Buffer): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) sum += bytes.readUInt16BE(at);
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >>> 16);
  return ~sum & 0xffff;
}
