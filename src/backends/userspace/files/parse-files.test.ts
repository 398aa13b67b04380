import { describe, expect, test } from "vitest";
import { parseResolver, parseResolvers } from "../../../proxy/dns/parse-resolvers.ts";
import { parseHosts } from "./parse-hosts.ts";
import { parseUsers } from "./parse-users.ts";

describe("users", () => {
  test("names and passwords, without comments", () => {
    expect(parseUsers("# ours\r\n\nann:secret\nbob:a:b#c \n")).toEqual([
      { name: "ann", password: "secret" },
      { name: "bob", password: "a:b#c " },
    ]);
  });

  test.each([
    ["no password", "ann:x\nbob:\n", "line 2: expected name:password"],
    ["no name", ":secret", "line 1: expected name:password"],
    ["no colon", "secret", "line 1: expected name:password"],
    ["too long", `ann:${"x".repeat(256)}`, "each of 1 to 255 bytes"],
    ["twice", "ann:x\nann:y", "line 2: the name stands there twice"],
    ["nobody", "# none\n", "no user; expected at least one"],
  ])("refused: %s; the password is not told", (_name, text, message) => {
    expect(() => parseUsers(text)).toThrow(message);
    expect(() => parseUsers(text)).not.toThrow("secret");
  });
});

describe("hosts", () => {
  test("addresses of both families by lower-case name", () => {
    const text = "127.0.0.1 Localhost local # me\n::1 localhost.\n\nfe80::1%lo0 localhost\n";
    expect([...parseHosts(text)]).toEqual([
      ["localhost", ["127.0.0.1", "::1"]],
      ["local", ["127.0.0.1"]],
    ]);
  });

  test.each([
    ["1.2.3 a", 'line 1: "1.2.3" is not valid; expected an IP address and its names'],
    ["\n1.2.3.4", 'line 2: "1.2.3.4" is not valid'],
    ["1.2.3.4 a b_/c", '"b_/c" is not valid'],
  ])("refused: %j", (text, message) => {
    expect(() => parseHosts(text)).toThrow(message);
  });
});

describe("resolvers", () => {
  test("of a resolv.conf", () => {
    const text = "search a.example\nnameserver 192.0.2.1\n  nameserver\tfd00::1\nnameserver x\n";
    expect(parseResolvers(text)).toMatchObject([
      { ip: "192.0.2.1", port: 53 },
      { ip: "fd00::1", port: 53 },
    ]);
    expect(parseResolvers("options edns0")).toMatchObject([{ ip: "127.0.0.1", port: 53 }]);
  });

  test.each([
    ["192.0.2.1", { ip: "192.0.2.1", port: 53 }],
    ["192.0.2.1:5353", { ip: "192.0.2.1", port: 5353 }],
    ["fd00::1", { ip: "fd00::1", port: 53 }],
    ["[fd00::1]:5353", { ip: "fd00::1", port: 5353 }],
  ])("%s", (text, expected) => {
    expect(parseResolver(text)).toMatchObject(expected);
  });

  test.each(["a.example", "192.0.2.1:0x", "", "192.0.2.1:70000"])("%j is none", (text) => {
    expect(parseResolver(text)).toBeUndefined();
  });
});
