import { expect, test } from "vitest";
import { eachSplit } from "../../../test/support/each-split.ts";
import { seededBytes } from "../../../test/support/seeded-random.ts";
import {
  type Socks5Event,
  Socks5Handshake,
  type Socks5HandshakeOptions,
} from "./socks5-handshake.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

/** What a client's bytes lead to, in words; the same however they are cut. */
function outcomeOf(text: string, options: Socks5HandshakeOptions = {}): readonly string[] {
  const outcomes = new Map<string, readonly string[]>();
  for (const parts of eachSplit(hex(text))) {
    const words = wordsOf(parts, options);
    outcomes.set(words.join("|"), words);
  }
  expect([...outcomes.keys()]).toHaveLength(1);
  return [...outcomes.values()][0] ?? [];
}

function wordsOf(parts: readonly Buffer[], options: Socks5HandshakeOptions): readonly string[] {
  const handshake = new Socks5Handshake(options);
  const words: string[] = [];
  let rest = "";
  for (const part of parts) {
    if (handshake.isDone) {
      rest += part.toString("hex");
      continue;
    }
    for (const event of handshake.feed(part)) {
      words.push(wordOf(event));
      if (event.kind === "request") rest += event.rest.toString("hex");
    }
  }
  return words.some((word) => word.startsWith("failed")) ? words : [...words, `rest ${rest}`];
}

function wordOf(event: Socks5Event): string {
  switch (event.kind) {
    case "send":
      return `send ${event.bytes.toString("hex")}`;
    case "failed":
      return `failed ${event.reason}`;
    case "request": {
      const { host, isName, port } = event.address;
      return `${event.command} ${isName ? "name" : "ip"} ${host} ${port} user=${event.user}`;
    }
  }
}

const authenticate = (user: string, password: string) => user === "me" && password === "pw";
const GREETING = "05 01 00";
const PASSWORD_GREETING = "05 02 00 02";

test("CONNECT to an IPv4 address", () => {
  expect(outcomeOf(`${GREETING} 05 01 00 01 c0000207 0050`)).toEqual([
    "send 0500",
    "connect ip 192.0.2.7 80 user=",
    "rest ",
  ]);
});

test("CONNECT to an IPv6 address", () => {
  const address = "20010db8000000000000000000000001";
  expect(outcomeOf(`${GREETING} 05 01 00 04 ${address} 01bb`)[1]).toBe(
    "connect ip 2001:db8::1 443 user=",
  );
});

test("CONNECT to a name", () => {
  const name = Buffer.from("A.Example.").toString("hex");
  expect(outcomeOf(`${GREETING} 05 01 00 03 0a ${name} 0050`)[1]).toBe(
    "connect name a.example 80 user=",
  );
});

test("an address that is sent as a name is an address", () => {
  const text = Buffer.from("10.0.0.1").toString("hex");
  expect(outcomeOf(`${GREETING} 05 01 00 03 08 ${text} 0050`)[1]).toBe(
    "connect ip 10.0.0.1 80 user=",
  );
});

test("UDP ASSOCIATE", () => {
  expect(outcomeOf(`${GREETING} 05 03 00 01 00000000 0000`)[1]).toBe(
    "udp-associate ip 0.0.0.0 0 user=",
  );
});

test("what comes after the request is for the other side", () => {
  expect(outcomeOf(`${GREETING} 05 01 00 01 c0000207 0050 48454c4c4f`).at(-1)).toBe(
    "rest 48454c4c4f",
  );
});

test("user and password", () => {
  const request = "05 01 00 01 c0000207 0050";
  expect(outcomeOf(`${PASSWORD_GREETING} 01 02 6d65 02 7077 ${request}`, { authenticate })).toEqual(
    ["send 0502", "send 0100", "connect ip 192.0.2.7 80 user=me", "rest "],
  );
  expect(outcomeOf(`${PASSWORD_GREETING} 01 02 6d65 02 7078 ${request}`, { authenticate })).toEqual(
    ["send 0502", "send 0101", "failed SOCKS5: wrong user or password"],
  );
});

test.each<[string, string, Socks5HandshakeOptions, readonly RegExp[]]>([
  ["SOCKS4", "04 01 0050 c0000207 00", {}, [/^failed .*version 4/]],
  ["HTTP", "47455420", {}, [/^failed .*version 71/]],
  ["no method in common", "05 01 02", {}, [/^send 05ff$/, /^failed/]],
  ["no password offered", "05 01 00", { authenticate }, [/^send 05ff$/, /^failed/]],
  ["no methods", "05 00", {}, [/^send 05ff$/, /^failed/]],
  ["another version of the password", "05 01 02 05", { authenticate }, [/^send 0502$/, /^failed/]],
  ["BIND", `${GREETING} 05 02 00`, {}, [/0500/, /^send 05070001000000000000$/, /^failed/]],
  ["an unknown command", `${GREETING} 05 09 00`, {}, [/0500/, /^send 0507/, /^failed/]],
  ["an unknown address", `${GREETING} 05 01 00 02`, {}, [/0500/, /^send 0508/, /^failed/]],
  ["an empty name", `${GREETING} 05 01 00 03 00 0050`, {}, [/0500/, /^send 0508/, /^failed/]],
  ["NUL in a name", `${GREETING} 05 01 00 03 02 6100 0050`, {}, [/0500/, /^send 0508/, /^failed/]],
  ["another version later", `${GREETING} 04`, {}, [/0500/, /^send 0501/, /^failed/]],
])("%s is refused", (_name, bytes, options, expected) => {
  const words = outcomeOf(bytes, options);
  expect(words).toHaveLength(expected.length);
  expected.forEach((pattern, index) => {
    expect(words[index]).toMatch(pattern);
  });
});

test("a handshake that is cut off asks for nothing wrong", () => {
  const whole = hex(`${PASSWORD_GREETING} 01 02 6d65 02 7077 05 01 00 03 01 61 0050`);
  for (let length = 0; length < whole.length; length++) {
    const handshake = new Socks5Handshake({ authenticate });
    const kinds = handshake.feed(whole.subarray(0, length)).map((event) => event.kind);
    expect(new Set(kinds).has("failed")).toBe(false);
    expect(handshake.isDone).toBe(false);
  }
});

test("random bytes never throw", () => {
  const noise = seededBytes(21, 10_000);
  for (let start = 0; start < noise.length; start += 10) {
    const handshake = new Socks5Handshake({ authenticate });
    handshake.feed(Buffer.concat([hex(PASSWORD_GREETING), noise.subarray(start, start + 600)]));
    const open = new Socks5Handshake();
    open.feed(Buffer.concat([hex(`${GREETING} 05 01 00`), noise.subarray(start, start + 600)]));
    expect(open.isDone).toBe(true);
  }
});
