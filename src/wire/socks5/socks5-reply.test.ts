import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { readSocks5Datagram, renderSocks5DatagramHeader } from "./socks5-datagram.ts";
import { renderSocks5Reply, socks5ReplyFor } from "./socks5-reply.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

test("replies", () => {
  const reply = (...args: Parameters<typeof renderSocks5Reply>) =>
    renderSocks5Reply(...args).toString("hex");
  expect(reply("succeeded", "192.0.2.7", 8080)).toBe("05000001c00002071f90");
  expect(reply("succeeded", "fd00::1", 1)).toBe(
    `05000004${"fd000000000000000000000000000001"}0001`,
  );
  expect(reply("connection-refused")).toBe("05050001000000000000");
  expect(reply("succeeded", "/run/a.sock", 0)).toBe("05000001000000000000");
});

test("what the system says becomes what the client is told", () => {
  const errors = ["ECONNREFUSED", "ENETUNREACH", "EHOSTUNREACH", "ETIMEDOUT", "EMFILE"];
  expect(errors.map(socks5ReplyFor)).toEqual([
    "connection-refused",
    "network-unreachable",
    "host-unreachable",
    "host-unreachable",
    "general-failure",
  ]);
});

test("datagrams of an association", () => {
  const datagram = readSocks5Datagram(hex("0000 00 01 c0000207 0035 cafe"));
  expect(datagram?.address).toEqual({ host: "192.0.2.7", isName: false, port: 53 });
  expect(datagram?.payload.toString("hex")).toBe("cafe");
  const named = readSocks5Datagram(hex("0000 00 03 01 61 0035"));
  expect(named?.address).toEqual({ host: "a", isName: true, port: 53 });
  expect(named?.payload).toHaveLength(0);
});

test.each([
  ["a fragment", "0000 01 01 c0000207 0035 cafe"],
  ["reserved bytes that are not 0", "0001 00 01 c0000207 0035 cafe"],
  ["cut off", "0000 00 01 c0000207 00"],
  ["empty", ""],
  ["an unknown type", "0000 00 05 c0000207 0035"],
])("%s is dropped", (_name, bytes) => {
  expect(readSocks5Datagram(hex(bytes))).toBeUndefined();
});

test("the header of an answer is read back", () => {
  for (const ip of ["192.0.2.7", "2001:db8::1"]) {
    const answer = Buffer.concat([renderSocks5DatagramHeader(ip, 53), hex("cafe")]);
    const { address, payload } = readSocks5Datagram(answer) ?? {};
    expect(address).toEqual({ host: ip, isName: false, port: 53 });
    expect(payload?.toString("hex")).toBe("cafe");
  }
});

test("a datagram whose header is cut anywhere is dropped", () => {
  for (const header of [
    "000000 01 c0000207 0035",
    "000000 03 03 612e62 0035",
    `000000 04 ${"fd".repeat(16)} 0035`,
  ]) {
    for (const beginning of eachBeginning(hex(header))) {
      expect(readSocks5Datagram(beginning)).toBeUndefined();
    }
    expect(readSocks5Datagram(hex(header))?.payload).toHaveLength(0);
  }
});

test("random datagrams never throw", () => {
  const noise = seededBytes(22, 10_000);
  for (let start = 0; start < noise.length; start += 5) {
    const length = start % 40;
    readSocks5Datagram(Buffer.concat([Buffer.alloc(3), noise.subarray(start, start + length)]));
  }
  expect(readSocks5Datagram(noise)).toBeUndefined();
});
