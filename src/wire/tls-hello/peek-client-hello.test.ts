import { Duplex } from "node:stream";
import { connect } from "node:tls";
import { expect, test } from "vitest";
import { eachBeginning } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import { peekClientHello, type TlsPeek } from "./peek-client-hello.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(/\s/g, ""), "hex");

/** RFC 8448 section 3: to the host "server", without ALPN. */
const RFC_8448 = hex(`
  01 00 00 c0 03 03 cb 34 ec b1 e7 81 63 ba 1c 38 c6 da cb 19 6a 6d ff a2 1a 8d 99 12 ec 18 a2 ef
  62 83 02 4d ec e7 00 00 06 13 01 13 03 13 02 01 00 00 91 00 00 00 0b 00 09 00 00 06 73 65 72 76
  65 72 ff 01 00 01 00 00 0a 00 14 00 12 00 1d 00 17 00 18 00 19 01 00 01 01 01 02 01 03 01 04 00
  23 00 00 00 33 00 26 00 24 00 1d 00 20 99 38 1d e5 60 e4 bd 43 d2 3d 8e 43 5a 7d ba fe b3 c0 6e
  51 c1 3c ae 4d 54 13 69 1e 52 9a af 2c 00 2b 00 03 02 03 04 00 0d 00 20 00 1e 04 03 05 03 06 03
  02 03 08 04 08 05 08 06 04 01 05 01 06 01 02 01 04 02 05 02 06 02 02 02 00 2d 00 02 01 01 00 1c
  00 02 40 01`);

const uint16 = (value: number) => Buffer.from([value >> 8, value & 0xff]);
const vector16 = (...parts: readonly Buffer[]) => {
  const body = Buffer.concat(parts);
  return Buffer.concat([uint16(body.length), body]);
};

function record(body: Buffer): Buffer {
  return Buffer.concat([hex("16 03 01"), uint16(body.length), body]);
}

function message(...extensions: readonly Buffer[]): Buffer {
  const body = Buffer.concat([
    hex(`0303 ${"11".repeat(32)} 00 0002 1301 01 00`),
    extensions.length === 0 ? Buffer.alloc(0) : vector16(...extensions),
  ]);
  return Buffer.concat([hex("01 00"), uint16(body.length), body]);
}

const extension = (type: number, body: Buffer) => Buffer.concat([uint16(type), vector16(body)]);
const serverName = (name: string) =>
  extension(0, vector16(Buffer.from([0]), vector16(Buffer.from(name, "latin1"))));
const alpn = (...names: readonly string[]) =>
  extension(
    16,
    vector16(...names.map((name) => Buffer.from(`${String.fromCharCode(name.length)}${name}`))),
  );

function peek(bytes: Buffer, maxBytes?: number): TlsPeek {
  const around = Buffer.concat([hex("1603"), bytes, hex("1603")]);
  return peekClientHello(around, 2, 2 + bytes.length, maxBytes);
}

const hello = (name: string, ...protocols: readonly string[]) => ({
  kind: "hello",
  hello: { serverName: name, alpn: protocols },
});

test("reads the example of RFC 8448", () => {
  expect(RFC_8448).toHaveLength(196);
  expect(peek(record(RFC_8448))).toEqual(hello("server"));
});

test("reads what OpenSSL sends", async () => {
  const first = await new Promise<Buffer>((resolve) => {
    const wire = new Duplex({
      read: () => undefined,
      write: (chunk: Buffer) => resolve(chunk),
    });
    connect({ socket: wire, servername: "a.example", ALPNProtocols: ["h2", "http/1.1"] });
  });
  expect(peek(first)).toEqual(hello("a.example", "h2", "http/1.1"));
});

test.each([
  ["no extensions", message(), hello("")],
  ["name and protocols", message(alpn("h2"), serverName("A.Example")), hello("a.example", "h2")],
  ["an address as a name", message(serverName("10.0.0.1")), hello("")],
  ["a name that is none", message(serverName("a b")), hello("")],
  ["unknown extensions", message(extension(0x0a0a, hex("00")), serverName("a")), hello("a")],
])("%s", (_name, body, expected) => {
  expect(peek(record(body))).toEqual(expected);
});

const BOTH = message(serverName("a.example"), alpn("h2", "http/1.1"));

test("it asks for more at each boundary", () => {
  for (const beginning of eachBeginning(record(BOTH))) expect(peek(beginning).kind).toBe("more");
});

test("a message in several records is put together, wherever it is cut", () => {
  for (let at = 1; at < BOTH.length; at++) {
    const cut = Buffer.concat([record(BOTH.subarray(0, at)), record(BOTH.subarray(at))]);
    expect(peek(cut)).toEqual(hello("a.example", "h2", "http/1.1"));
    expect(peek(cut.subarray(0, -1)).kind).toBe("more");
  }
});

test("a message in too many records is refused", () => {
  const crumbs = Buffer.concat([...BOTH].map((byte) => record(Buffer.from([byte]))));
  expect(peek(crumbs)).toMatchObject({ kind: "malformed" });
});

test.each(["GET / HTTP/1.1\r\n", "\x80\x2e\x01", "\x16\x02\x00", "\x17\x03\x03", "\0"])(
  "%j is no TLS",
  (text) => {
    expect(peek(Buffer.from(text, "latin1")).kind).toBe("not-tls");
  },
);

test.each([
  ["an empty record", hex("16 03 01 00 00")],
  ["a record that is too large", hex("16 03 01 40 01")],
  ["a ServerHello", record(hex("02 00 00 01 00"))],
  ["a message that is too large", record(hex("01 01 00 00"))],
  [
    "another record in between",
    Buffer.concat([record(BOTH.subarray(0, 9)), hex("17 03 03 00 01 00")]),
  ],
  ["two names", record(message(serverName("a"), serverName("b")))],
  [
    "an extension past the end",
    record(message(Buffer.concat([serverName("a"), hex("0010 00ff 00")]))),
  ],
  ["a name past the end", record(message(extension(0, hex("0005 00 00ff 61"))))],
  ["bytes after the name", record(message(extension(0, hex("0005 00 0001 61 00"))))],
  ["an empty protocol", record(message(extension(16, hex("0001 00"))))],
  ["a message without fields", record(hex("01 00 00 00"))],
  ["a message that is cut short", record(Buffer.concat([hex("01 00 00 10"), Buffer.alloc(16)]))],
])("%s is refused", (_name, bytes) => {
  expect(peek(bytes)).toMatchObject({ kind: "malformed", reason: expect.stringMatching(/^TLS/) });
});

test("the limit counts", () => {
  expect(peek(record(BOTH), BOTH.length - 4).kind).toBe("hello");
  expect(peek(record(BOTH), BOTH.length - 5).kind).toBe("malformed");
});

test("one changed byte never throws", () => {
  const good = record(RFC_8448);
  for (let at = 0; at < good.length; at++) {
    for (const byte of [0, 1, 0x7f, 0xff]) {
      const bad = Buffer.from(good);
      bad[at] = byte;
      expect(["more", "not-tls", "malformed", "hello"]).toContain(peek(bad).kind);
    }
  }
});

test("random bytes never throw", () => {
  const noise = seededBytes(24, 10_000);
  for (let start = 0; start < noise.length; start += 10) {
    peek(noise.subarray(start, start + 100));
    const body = noise.subarray(start, start + 100);
    peek(record(Buffer.concat([hex("01 00 00"), Buffer.from([body.length]), body])));
  }
  expect(peek(noise).kind).toBe("not-tls");
});
