import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { parseKey, parseKindWord } from "./kind-words.ts";

test.each([
  ["Service", "Service"],
  ["services", "Service"],
  ["ENDPOINT", "Endpoint"],
  ["securitygroups", "SecurityGroup"],
  ["security-group", "SecurityGroup"],
  ["upstream", "Service"],
  ["servers", "Endpoint"],
  ["server-groups", "Group"],
  ["cert-key", "Certificate"],
  ["dns-servers", "Listener"],
])("%s is %s", (word, kind) => {
  expect(parseKindWord(word).kind).toBe(kind);
});

test("words of commands mean only some objects of a kind", () => {
  const place = { name: "a", address: "127.0.0.1", port: 80, service: "default/a" };
  const tcp = parseKind("Listener", { ...place, mode: "http" });
  const udp = parseKind("Listener", { ...place, mode: "udp" });
  const { suits } = parseKindWord("tcp-lb");
  expect([suits(tcp), suits(udp)]).toEqual([true, false]);
  const upstream = parseKindWord("upstream");
  expect(upstream.suits(parseKind("Service", { name: "a", type: "Plain" }))).toBe(true);
  expect(upstream.suits(parseKind("Service", { name: "a" }))).toBe(false);
});

test("what is no kind is refused with the nearest, or all", () => {
  expect(() => parseKindWord("sevrice")).toThrow('"sevrice" is no kind; expected "service"');
  expect(() => parseKindWord("quux-thing")).toThrow(/expected one of service, listener/);
});

test.each([
  ["Service", "web", "default/web"],
  ["Service", "shop/web", "shop/web"],
  ["Endpoint", "web/127.0.0.1:9001", "default/web/127.0.0.1:9001"],
  ["Endpoint", "shop/web/a", "shop/web/a"],
  ["Node", "worker-1", "worker-1"],
] as const)("%s %s is %s", (kind, text, key) => {
  expect(parseKey(kind, text)).toBe(key);
});

test.each([
  ["Service", "a/b/c", "[NAMESPACE/]NAME"],
  ["Service", "a/", "[NAMESPACE/]NAME"],
  ["Endpoint", "a", "[NAMESPACE/]GROUP/NAME"],
  ["Node", "a/b", "NAME"],
] as const)("%s %s is refused", (kind, text, form) => {
  expect(() => parseKey(kind, text)).toThrow(`"${text}" is no name of a ${kind}; expected ${form}`);
});
