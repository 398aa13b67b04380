import { expect, test } from "vitest";
import { putSockaddr, sockaddrKey } from "../../platform/linux/sockaddr.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { wordsOfIp } from "../../wire/ip/address-words.ts";
import type { TunnelMode } from "./peer.ts";
import { PeerBook } from "./peer-book.ts";

function keyOf(ip: string, port: number): number | string {
  const view = new DataView(new ArrayBuffer(128));
  return sockaddrKey(view, 0, putSockaddr(view, 0, ipAddress(ip, port)));
}

function spec(node: string, ip: string, port: number, mode: TunnelMode = "compat") {
  return { node, endpoint: ipAddress(ip, port), subnets: [], modes: [mode] };
}

test.each(["192.0.2.2", "::ffff:192.0.2.2", "2001:db8::2"])(
  "a peer of mode compat at %s may send from any port, where it is alone there",
  (ip) => {
    const book = new PeerBook([]);
    book.set(spec("a", ip, 50_103));
    expect(book.compatAt(keyOf(ip, 50_103))?.node).toBe("a");
    expect(book.compatAt(keyOf(ip, 40_000))?.node).toBe("a");
    expect(book.compatAt(keyOf("2001:db8::3", 50_103))).toBeUndefined();
    book.set(spec("b", ip, 50_104));
    expect(book.compatAt(keyOf(ip, 50_104))?.node).toBe("b");
    expect(book.compatAt(keyOf(ip, 40_000))).toBeUndefined();
    book.remove("a");
    expect(book.compatAt(keyOf(ip, 40_000))?.node).toBe("b");
    book.set(spec("b", "192.0.2.9", 50_104));
    expect(book.compatAt(keyOf(ip, 40_000))).toBeUndefined();
    expect(book.compatAt(keyOf("192.0.2.9", 1))?.node).toBe("b");
  },
);

test("peers of other modes keep to their port", () => {
  const book = new PeerBook([]);
  book.set(spec("a", "192.0.2.2", 50_103, "fast"));
  expect(book.compatAt(keyOf("192.0.2.2", 50_103))).toBeUndefined();
  expect(book.compatAt(keyOf("192.0.2.2", 40_000))).toBeUndefined();
});

test.each([["a", "b"] as const, ["b", "a"] as const])(
  "two peers that exchange networks and keys have both, %s first",
  (first, second) => {
    const book = new PeerBook(["10.18.0.0/26"]);
    const set = (node: string, ofNetwork: number, publicKey: string) =>
      book.set({ node, subnets: [`10.18.${ofNetwork}.0/26`], publicKey, modes: ["secure"] });
    set(first, 1, "key 1");
    set(second, 2, "key 2");
    for (const node of [first, second]) book.release(node);
    set(first, 2, "key 2");
    set(second, 1, "key 1");
    expect(book.routes.findWords(wordsOfIp("10.18.2.1"))).toBe(book.get(first));
    expect(book.routes.findWords(wordsOfIp("10.18.1.1"))).toBe(book.get(second));
    expect(book.withKey("key 2")?.node).toBe(first);
    expect(book.withKey("key 1")?.node).toBe(second);
    book.remove(first);
    expect(book.routes.findWords(wordsOfIp("10.18.2.1"))).toBeUndefined();
    expect(book.withKey("key 1")?.node).toBe(second);
  },
);
