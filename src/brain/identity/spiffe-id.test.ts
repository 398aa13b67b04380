import { expect, test } from "vitest";
import { formatIdentity, identityOf, parseIdentity } from "./spiffe-id.ts";
import { isTunnelKey } from "./tunnel-key.ts";

const NODE = { trustDomain: "portolan", kind: "node", name: "edge-1.site" };

test("an identity is a URI, both ways", () => {
  expect(formatIdentity(NODE)).toBe("spiffe://portolan/node/edge-1.site");
  expect(parseIdentity("spiffe://portolan/node/edge-1.site")).toEqual(NODE);
  const manager = { trustDomain: "portolan", kind: "manager", name: "" };
  expect(parseIdentity(formatIdentity(manager))).toEqual(manager);
});

test.each(["", "..", "a/b", "a b", "ä", "a,URI:spiffe://portolan/manager"])(
  "%j can not be a name in it",
  (name) => {
    expect(parseIdentity(`spiffe://portolan/node/${name}`)).toBeUndefined();
    if (name !== "") expect(() => formatIdentity({ ...NODE, name })).toThrow("name of an identity");
  },
);

test("a certificate has one identity or none", () => {
  expect(identityOf("URI:spiffe://portolan/node/a, DNS:a")?.name).toBe("a");
  expect(identityOf("URI:spiffe://x/node/a, URI:spiffe://x/manager")).toBeUndefined();
  expect(identityOf("DNS:a")).toBeUndefined();
  expect(identityOf(undefined)).toBeUndefined();
});

test("a tunnel key is 32 bytes, spelled in one way", () => {
  expect(isTunnelKey(Buffer.alloc(32, 1).toString("base64"))).toBe(true);
  expect(isTunnelKey(Buffer.alloc(32).toString("base64"))).toBe(false);
  expect(isTunnelKey(Buffer.alloc(31, 1).toString("base64"))).toBe(false);
  // The last letter before "=" has two bits that say nothing.
  expect(isTunnelKey(`${"A".repeat(42)}B=`)).toBe(false);
});
