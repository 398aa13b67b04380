import fc from "fast-check";
import ipaddr from "ipaddr.js";
import { expect, test } from "vitest";
import { canonicalIp, cidrContains, isHostName, parseCidr, parseHostPort } from "./address.ts";

test.each([
  ["10.0.0.1", "10.0.0.1"],
  ["FD00:0:0::1", "fd00::1"],
  ["::ffff:10.0.0.1", "::ffff:a00:1"],
  ["010.0.0.1", undefined],
  ["127.1", undefined],
  ["10.0.0.256", undefined],
  ["fe80::1%eth0", undefined],
  ["web.example", undefined],
  ["", undefined],
])("the one spelling of %s is %s", (text, ip) => {
  expect(canonicalIp(text)).toBe(ip);
});

test("IPv6 is spelled as RFC 5952 has it, whichever way it is written", () => {
  const group = fc.constantFrom("0", "1", "a0", "0a", "ff", "F00D", "ffff", "10000");
  const groups = fc.array(group, { maxLength: 8 });
  fc.assert(
    fc.property(groups, groups, fc.constantFrom("::", ":"), (left, right, middle) => {
      const text = `${left.join(":")}${middle}${right.join(":")}`;
      const expected = ipaddr.IPv6.isValid(text)
        ? ipaddr.IPv6.parse(text).toRFC5952String()
        : undefined;
      expect(canonicalIp(text)).toBe(expected);
    }),
    { numRuns: 2000 },
  );
});

test.each([
  ["10.1.2.3/8", "10.0.0.0/8"],
  ["10.1.2.3", "10.1.2.3/32"],
  ["fd00::1/64", "fd00::/64"],
  ["0.0.0.0/0", "0.0.0.0/0"],
  ["255.255.255.255/1", "128.0.0.0/1"],
  ["203.0.113.77/27", "203.0.113.64/27"],
  ["10.0.0.0/33", undefined],
  ["10.0.0.0/-1", undefined],
  ["10.0.0.0/", undefined],
])("network %s is %s", (text, cidr) => {
  expect(parseCidr(text)?.text).toBe(cidr);
});

test.each([
  ["10.0.0.0/8", "10.255.0.1", true],
  ["10.0.0.0/8", "11.0.0.1", false],
  ["10.128.0.0/9", "10.127.255.255", false],
  ["::/0", "10.0.0.1", false],
  ["fd00::/127", "fd00::1", true],
])("%s contains %s: %s", (network, ip, expected) => {
  const cidr = parseCidr(network);
  expect(cidr !== undefined && cidrContains(cidr, ip)).toBe(expected);
});

test.each([
  ["10.0.0.1:80", { host: "10.0.0.1", port: 80 }],
  ["[FD00::1]:80", { host: "fd00::1", port: 80 }],
  ["web.example:65535", { host: "web.example", port: 65_535 }],
  ["10.0.0.1:0", undefined],
  ["10.0.0.1:70000", undefined],
  ["fd00::1:80", undefined],
  ["[10.0.0.1]:80", undefined],
  ["10.0.0.1", undefined],
  [":80", undefined],
])("%s is read as %j", (text, expected) => {
  expect(parseHostPort(text)).toEqual(expected);
});

test.each([
  ["web", true],
  ["a_b.example.", true],
  ["-web", false],
  ["10.0.0.300", false],
  ["a..b", false],
  [`${"a".repeat(64)}.b`, false],
])("%s is a host name: %s", (text, expected) => {
  expect(isHostName(text)).toBe(expected);
});
