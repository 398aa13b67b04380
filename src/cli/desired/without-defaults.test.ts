import { expect, test } from "vitest";
import { KINDS } from "../../core/model/object.ts";
import { parseKind, parseObject } from "../../core/model/parse.ts";
import { withoutDefaults } from "./without-defaults.ts";

const SAMPLES = {
  Service: { name: "a", type: "Plain" },
  Listener: { name: "a", address: "::1", port: 80, service: "default/a", mode: "socks5" },
  Group: { name: "a", healthCheck: { protocol: "http" } },
  Endpoint: { name: "a", group: "g", hostName: "a.example" },
  Node: { name: "a", zone: "z" },
  SecurityGroup: { name: "a", namespace: "other", defaultAccess: "allow" },
  Certificate: { name: "a", certFiles: ["any"], keyFile: "any" },
} as const;

test.each(KINDS)("a %s is short, and the same when it is read again", (kind) => {
  const object = parseKind(kind, SAMPLES[kind]);
  const short = withoutDefaults(object);
  expect(parseObject(short)).toEqual(object);
  expect(Object.keys(short).length).toBeLessThan(10);
  expect(short).toMatchObject({ kind, name: "a" });
});

test("what is no default for this mode stays", () => {
  const object = parseKind("Listener", { ...SAMPLES.Listener, fallsBack: true });
  expect(withoutDefaults(object)).toMatchObject({ fallsBack: true, mode: "socks5" });
  expect(parseObject(withoutDefaults(object))).toEqual(object);
});
