import { expect, test } from "vitest";
import { HEADER_BYTES, NLM_F_DUMP, NLM_F_REQUEST } from "../netlink-words.ts";
import { NetlinkWriter } from "../netlink-writer.ts";
import { parseDestination, parseServer } from "./decode-ipvs.ts";
import {
  type IpvsChange,
  writeDestinationDump,
  writeIpvsChange,
  writeServerDump,
} from "./encode-ipvs.ts";
import { AF_INET } from "./ipvs-words.ts";
import { serverId, type VirtualServer } from "./virtual-server.ts";

const SERVER: VirtualServer = {
  family: "v4",
  place: { protocol: "TCP", ip: "10.96.0.10", port: 80 },
  scheduler: "wrr",
  flags: 1,
  persistenceSeconds: 300,
};
const PLACE = [
  "06000100 02000000 06000200 06000000",
  "14000300 0a60000a 00000000 00000000 00000000 06000400 00500000",
].join(" ");

/** What `ipvsadm -A -t 10.96.0.10:80 -s wrr -p 300` sends, behind the header. */
const NEW_SERVICE = [
  "01010000 54000180",
  PLACE,
  "08000600 77727200 0c000700 01000000 ffffffff 08000800 2c010000 08000900 ffffffff",
].join(" ");

/** A real server as the kernel tells it to `ipvsadm -Ln`, up to its statistics. */
const KERNEL_DESTINATION = [
  "05010000 70000200 14000100 0af4010c 00000000 00000000 00000000 06000200 1f900000",
  "08000300 00000000 08000400 03000000 05000d00 00000000 06000e00 00000000 06000f00 00000000",
  "08000500 00000000 08000600 00000000 08000700 02000000 08000800 05000000 08000900 00000000",
].join(" ");

function bytesOf(change: IpvsChange): string {
  const writer = new NetlinkWriter();
  writeIpvsChange(writer, { familyId: 28, sequence: 7, isLast: true }, change);
  return Buffer.from(writer.written().subarray(HEADER_BYTES)).toString("hex");
}

function viewOf(text: string): DataView {
  const bytes = Uint8Array.from(Buffer.from(text.replaceAll(" ", ""), "hex"));
  return new DataView(bytes.buffer);
}

test("a virtual server is written as ipvsadm writes it", () => {
  expect(bytesOf({ kind: "newService", server: SERVER })).toBe(NEW_SERVICE.replaceAll(" ", ""));
});

test("to remove one, or to name it for a real server, its place is enough", () => {
  expect(bytesOf({ kind: "deleteService", server: SERVER })).toBe(
    `03010000 30000180 ${PLACE}`.replaceAll(" ", ""),
  );
  const destination = { ip: "10.244.1.12", port: 8080, weight: 3 };
  expect(bytesOf({ kind: "newDestination", server: SERVER, destination })).toBe(
    [
      `05010000 30000180 ${PLACE} 40000280`,
      "14000100 0af4010c 00000000 00000000 00000000 06000200 1f900000",
      "08000300 00000000 08000400 03000000 08000500 00000000 08000600 00000000",
    ]
      .join("")
      .replaceAll(" ", ""),
  );
});

test("a mark takes the place of an address", () => {
  const server: VirtualServer = { ...SERVER, family: "v6", place: { mark: 0x2000_0001 } };
  expect(bytesOf({ kind: "deleteService", server })).toBe(
    "03010000 14000180 06000100 0a000000 08000500 01000020".replaceAll(" ", ""),
  );
  expect(serverId(server)).toBe("v6 mark 0x20000001");
});

test("what is written is read again, whatever the kernel adds to its flags", () => {
  const view = viewOf(NEW_SERVICE.replace("0c000700 01000000", "0c000700 03000000"));
  expect(parseServer(view, 0, view.byteLength)).toMatchObject(SERVER);
});

test("a real server is read with its connections", () => {
  const view = viewOf(KERNEL_DESTINATION);
  expect(parseDestination(view, 0, view.byteLength, AF_INET)).toMatchObject({
    ip: "10.244.1.12",
    port: 8080,
    weight: 3,
    isTranslated: true,
    activeConnections: 2,
    inactiveConnections: 5,
  });
});

test("affinity of networks and limits of connections are seen", () => {
  const server = (text: string) => {
    const view = viewOf(text);
    return parseServer(view, 0, view.byteLength)?.isByAddress;
  };
  expect(server(NEW_SERVICE)).toBe(true);
  expect(server(NEW_SERVICE.replace("08000900 ffffffff", "08000900 ffffff00"))).toBe(false);
  const real = (text: string) => {
    const view = viewOf(text);
    return parseDestination(view, 0, view.byteLength, AF_INET)?.isLimited;
  };
  expect(real(KERNEL_DESTINATION)).toBe(false);
  expect(real(KERNEL_DESTINATION.replace("08000500 00000000", "08000500 05000000"))).toBe(true);
  expect(real(KERNEL_DESTINATION.replace("08000600 00000000", "08000600 02000000"))).toBe(true);
});

test("a virtual server of another protocol is none that we know", () => {
  const view = viewOf(NEW_SERVICE.replace("06000200 06000000", "06000200 32000000"));
  expect(parseServer(view, 0, view.byteLength)).toBeUndefined();
});

test("affinity of IPv6 is of whole addresses: a length stands where IPv4 has a mask", () => {
  const place = { protocol: "TCP", ip: "fd00:96::10", port: 80 } as const;
  const bytes = bytesOf({ kind: "newService", server: { ...SERVER, family: "v6", place } });
  expect(bytes.endsWith("0800090080000000")).toBe(true);
});

test("each time-out has its own attribute", () => {
  const timeouts = { tcp: 900, tcpFin: 120, udp: 300 };
  expect(bytesOf({ kind: "setConfig", timeouts })).toBe(
    "0c010000 08000400 84030000 08000500 78000000 08000600 2c010000".replaceAll(" ", ""),
  );
});

test("listings are asked for as a whole", () => {
  for (const write of [writeServerDump, writeDestinationDump]) {
    const writer = new NetlinkWriter();
    write(writer, 28, 7, SERVER);
    const bytes = writer.written();
    const flags = new DataView(bytes.buffer, bytes.byteOffset).getUint16(6, true);
    expect(flags).toBe(NLM_F_REQUEST | NLM_F_DUMP);
  }
});

test("what was counted is read, each number in its place", () => {
  const counted = [1, 2, 3, 4, 5].map((at) => `0c000${at}00 0${at}000000 00000000`).join(" ");
  const view = viewOf(`${NEW_SERVICE.replace("54000180", "94000180")} 40000c80 ${counted}`);
  expect(parseServer(view, 0, view.byteLength)?.statistics).toEqual({
    connections: 1,
    packetsIn: 2,
    packetsOut: 3,
    bytesIn: 4,
    bytesOut: 5,
  });
});
