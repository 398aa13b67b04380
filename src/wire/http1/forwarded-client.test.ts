import { expect, test } from "vitest";
import { forwardedClient } from "./forwarded-client.ts";

const isTrusted = (ip: string) => ip.startsWith("10.") || ip === "fd00::1";

function clientOf(peer: string, ...forwarded: readonly string[]): string {
  return forwardedClient(forwarded, peer, isTrusted);
}

test.each<[string, string, readonly string[], string]>([
  ["nobody is forwarded", "10.0.0.1", [], "10.0.0.1"],
  ["a stranger is not believed", "192.0.2.1", ["1.1.1.1"], "192.0.2.1"],
  ["a trusted hop is", "10.0.0.1", ["192.0.2.7"], "192.0.2.7"],
  ["only as far as trusted hops reach", "10.0.0.1", ["1.1.1.1, 192.0.2.7, 10.0.0.2"], "192.0.2.7"],
  ["over several fields", "10.0.0.1", ["192.0.2.7", "10.0.0.3,10.0.0.2"], "192.0.2.7"],
  ["all trusted: the first", "10.0.0.1", ["10.0.0.9, fd00::1"], "10.0.0.9"],
  ["with a port", "10.0.0.1", ["192.0.2.7:5000"], "192.0.2.7"],
  ["IPv6 with a port", "10.0.0.1", ["[2001:DB8::1]:5000"], "2001:db8::1"],
  ["empty items are none", "10.0.0.1", ["192.0.2.7, ,", ""], "192.0.2.7"],
  ["what is no address ends it", "10.0.0.1", ["1.1.1.1, unknown, 10.0.0.2"], "10.0.0.2"],
])("%s", (_name, peer, forwarded, expected) => {
  expect(clientOf(peer, ...forwarded)).toBe(expected);
});
