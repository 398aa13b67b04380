import fc from "fast-check";
import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { canonicalIp } from "../../core/model/address.ts";
import { parseProxyHeader } from "./parse-proxy-header.ts";
import type { ProxiedConnection, ProxyHeader } from "./proxy-header.ts";
import { renderProxyV1 } from "./proxy-v1.ts";
import { renderProxyV2, renderProxyV2Local } from "./proxy-v2.ts";

const SIGNATURE = "0d0a0d0a000d0a515549540a";
const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");
const v2 = (text: string) => hex(`${SIGNATURE} ${text}`);
const v1 = (text: string) => Buffer.from(`PROXY ${text}\r\n`, "latin1");

/** Reads it in the middle of other bytes. */
function parse(bytes: Buffer): ProxyHeader {
  const around = Buffer.concat([Buffer.from("\n\n"), bytes, Buffer.from("\n\n")]);
  return parseProxyHeader(around, 2, 2 + bytes.length);
}

function connectionOf(
  source: string,
  destination: string,
  transport: "TCP" | "UDP" = "TCP",
): ProxiedConnection {
  return {
    transport,
    source: { ip: source, port: 56324 },
    destination: { ip: destination, port: 443 },
  };
}

test.each<[string, Buffer, ProxiedConnection | undefined]>([
  [
    "TCP4",
    v1("TCP4 192.168.0.1 192.168.0.11 56324 443"),
    connectionOf("192.168.0.1", "192.168.0.11"),
  ],
  ["TCP6", v1("TCP6 2001:DB8::1 ::1 56324 443"), connectionOf("2001:db8::1", "::1")],
  ["UNKNOWN", v1("UNKNOWN"), undefined],
  ["UNKNOWN with more", v1("UNKNOWN ffff:f...f:ffff x 65535 65535"), undefined],
  [
    "v2 TCP4",
    v2("21 11 000c c0a80001 c0a8000b dc04 01bb"),
    connectionOf("192.168.0.1", "192.168.0.11"),
  ],
  [
    "v2 UDP4",
    v2("21 12 000c c0a80001 c0a8000b dc04 01bb"),
    connectionOf("192.168.0.1", "192.168.0.11", "UDP"),
  ],
  [
    "v2 TCP6",
    v2(`21 21 0024 20010db8${"00".repeat(11)}01 ${"00".repeat(15)}01 dc04 01bb`),
    connectionOf("2001:db8::1", "::1"),
  ],
  [
    "v2 with extensions",
    v2("21 11 0013 c0a80001 c0a8000b dc04 01bb 04 0004 00000000"),
    connectionOf("192.168.0.1", "192.168.0.11"),
  ],
  ["v2 LOCAL", v2("20 00 0000"), undefined],
  ["v2 LOCAL with addresses", v2("20 11 000c c0a80001 c0a8000b dc04 01bb"), undefined],
  ["v2 UNSPEC", v2("21 00 0003 040000"), undefined],
  ["v2 unix", v2(`21 31 00d8 ${"61".repeat(216)}`), undefined],
])("%s", (_name, bytes, connection) => {
  for (const beginning of eachBeginning(bytes)) expect(parse(beginning).kind).toBe("more");
  expect(parse(bytes)).toMatchObject({ kind: "header", end: 2 + bytes.length });
  const header = parse(Buffer.concat([bytes, Buffer.from("GET / HTTP/1.1\r\n")]));
  expect(header).toMatchObject({ kind: "header", end: 2 + bytes.length });
  expect(header.kind === "header" && header.connection).toEqual(connection);
});

test.each([
  ["an unknown protocol", v1("TCP5 1.1.1.1 2.2.2.2 1 2")],
  ["UDP4", v1("UDP4 1.1.1.1 2.2.2.2 1 2")],
  ["the other family", v1("TCP4 ::1 ::2 1 2")],
  ["two families", v1("TCP6 ::1 2.2.2.2 1 2")],
  ["no ports", v1("TCP4 1.1.1.1 2.2.2.2")],
  ["one word too many", v1("TCP4 1.1.1.1 2.2.2.2 1 2 3")],
  ["two spaces", v1("TCP4  1.1.1.1 2.2.2.2 1 2")],
  ["a port above 65535", v1("TCP4 1.1.1.1 2.2.2.2 1 65536")],
  ["a port with a zero before it", v1("TCP4 1.1.1.1 2.2.2.2 01 2")],
  ["an address with a zero before it", v1("TCP4 01.1.1.1 2.2.2.2 1 2")],
  ["LF alone", Buffer.from("PROXY TCP4 1.1.1.1 2.2.2.2 1 2\n")],
  ["107 bytes without an end", Buffer.from(`PROXY UNKNOWN ${"x".repeat(93)}`)],
  ["an end after 107 bytes", v1(`UNKNOWN ${"x".repeat(92)}`)],
  ["v2 of version 1", v2("11 11")],
  ["v2 with an unknown command", v2("22 11")],
  ["v2 with an unknown family", v2("21 41 0000")],
  ["v2 with an unknown transport", v2("21 10 000c c0a80001 c0a8000b dc04 01bb")],
  ["v2 with too few bytes", v2("21 11 000b c0a80001 c0a8000b dc04 01")],
  ["v2 that is too long", v2("21 11 1001")],
])("%s is refused", (_name, bytes) => {
  expect(parse(bytes)).toMatchObject({
    kind: "malformed",
    reason: expect.stringMatching(/expected|no end/),
  });
});

test("the longest line of the specification is read", () => {
  const long = v1(`UNKNOWN ${"x".repeat(91)}`);
  expect(long).toHaveLength(107);
  expect(parse(long).kind).toBe("header");
});

test("other bytes are told at once", () => {
  for (const text of ["G", "PROXX", "PROXY\t", "\r\n\r\nG", "\0", "\x16\x03\x01"]) {
    expect(parse(Buffer.from(text, "latin1")).kind, JSON.stringify(text)).toBe("absent");
  }
});

test("rendering gives the bytes of the specification", () => {
  expect(renderProxyV1(connectionOf("192.168.0.1", "192.168.0.11")).toString()).toBe(
    "PROXY TCP4 192.168.0.1 192.168.0.11 56324 443\r\n",
  );
  expect(renderProxyV2(connectionOf("192.168.0.1", "192.168.0.11")).toString("hex")).toBe(
    v2("21 11 000c c0a80001 c0a8000b dc04 01bb").toString("hex"),
  );
  expect(renderProxyV2Local()).toEqual(v2("20 00 0000"));
});

test("what can not be told is told as unknown", () => {
  const mixed = connectionOf("192.168.0.1", "::1");
  const udp = connectionOf("192.168.0.1", "192.168.0.2", "UDP");
  for (const connection of [undefined, mixed]) {
    expect(renderProxyV1(connection).toString()).toBe("PROXY UNKNOWN\r\n");
    expect(renderProxyV2(connection)).toEqual(v2("21 00 0000"));
  }
  expect(renderProxyV1(udp).toString()).toBe("PROXY UNKNOWN\r\n");
});

test("what was rendered is read back", () => {
  const v4 = fc.ipV4();
  const v6 = fc.ipV6().map((ip) => canonicalIp(ip) ?? "::1");
  const ends = fc.oneof(fc.tuple(v4, v4), fc.tuple(v6, v6));
  const port = fc.nat({ max: 65_535 });
  fc.assert(
    fc.property(ends, port, port, ([from, to], sourcePort, destinationPort) => {
      const connection: ProxiedConnection = {
        transport: "TCP",
        source: { ip: from, port: sourcePort },
        destination: { ip: to, port: destinationPort },
      };
      for (const bytes of [renderProxyV1(connection), renderProxyV2(connection)]) {
        expect(parse(bytes)).toMatchObject({ kind: "header", connection });
      }
    }),
  );
});

test("random bytes never throw", () => {
  const noise = seededBytes(23, 10_000);
  for (let start = 0; start < noise.length; start += 10) {
    const part = noise.subarray(start, start + 120);
    for (const beginning of ["", "PROXY TCP4 "])
      parse(Buffer.concat([Buffer.from(beginning), part]));
    const outcome = parse(Buffer.concat([hex(SIGNATURE), part]));
    if (outcome.kind === "header") expect(outcome.end).toBeLessThanOrEqual(2 + 12 + part.length);
  }
});
