import { expect, test } from "vitest";
import { ForwardedTrust } from "./forwarded-trust.ts";

const trust = new ForwardedTrust(["10.0.0.0/8", "fd00::/8"]);

test.each([
  ["a stranger speaks for itself", "192.0.2.1", ["198.51.100.1"], "192.0.2.1"],
  ["a trusted hop speaks for its client", "10.0.0.1", ["198.51.100.1, 10.0.0.2"], "198.51.100.1"],
  ["a trusted hop that says nothing is the client", "fd00::1", [], "fd00::1"],
  ["a client on a unix socket has no address", "", ["198.51.100.1"], ""],
])("%s", (_name, peer, forwardedFor, client) => {
  expect(trust.clientOf(peer, () => forwardedFor)).toBe(client);
});

test("without networks nobody is trusted, and nothing is read", () => {
  const nobody = new ForwardedTrust([]);
  expect(nobody.trusts("10.0.0.1")).toBe(false);
  const unread = (): never => {
    throw new Error("the fields were read");
  };
  expect(nobody.clientOf("10.0.0.1", unread)).toBe("10.0.0.1");
});
