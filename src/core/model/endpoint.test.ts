import { expect, test } from "vitest";
import { resolveTargetPort } from "./endpoint.ts";
import { parseKind } from "./parse.ts";

const endpointWith = (ports: readonly object[]) =>
  parseKind("Endpoint", { name: "a", group: "web", addresses: ["10.0.0.1"], ports });
const portWith = (fields: object) => {
  const [port] = parseKind("Service", { name: "web", ports: [{ port: 80, ...fields }] }).ports;
  if (port === undefined) throw new Error("the service has a port");
  return port;
};

test.each([
  [
    "a port of its own by the service port's name",
    [{ name: "http", port: 1 }],
    { name: "http", targetPort: 2 },
    1,
  ],
  [
    "by the target port's name, where the service port has none",
    [{ name: "web", port: 1 }],
    { targetPortName: "web" },
    1,
  ],
  [
    "not by the target port's name, where the service port has a name",
    [{ name: "web", port: 1 }],
    { name: "http", targetPortName: "web" },
    undefined,
  ],
  [
    "the name decides before the number",
    [{ name: "x", port: 1 }],
    { name: "http", targetPort: 2 },
    undefined,
  ],
  [
    "only a port for the protocol of the service port",
    [
      { name: "dns", port: 1, protocol: "TCP" },
      { name: "dns", port: 2, protocol: "UDP" },
    ],
    { name: "dns", protocol: "UDP" },
    2,
  ],
  [
    "none where it serves another protocol",
    [{ name: "dns", port: 1, protocol: "TCP" }],
    { name: "dns", protocol: "UDP", targetPort: 1 },
    undefined,
  ],
  ["the number where it says no ports", [], { targetPort: 2 }, 2],
  ["none where nobody says one", [], {}, undefined],
  ["none where only the name is known", [], { targetPortName: "web" }, undefined],
])("target port: %s", (_, ports, port, expected) => {
  expect(resolveTargetPort(endpointWith(ports), portWith(port))).toBe(expected);
});

test("a unix socket serves every TCP port of its service, and has none of its own", () => {
  const socket = parseKind("Endpoint", { name: "a", group: "web", hostName: "/run/web.sock" });
  expect(resolveTargetPort(socket, portWith({ name: "http", targetPortName: "web" }))).toBe(80);
  expect(resolveTargetPort(socket, portWith({ protocol: "UDP", targetPort: 53 }))).toBeUndefined();
});

test.each([
  [{ hostName: "/run/web.sock", ports: [{ port: 80 }] }, /ports: .*unix socket/],
  [{ hostName: "/run/web.sock", families: ["v4"] }, /families: .*unix socket none/],
  [{ hostName: "/run/web.sock", addresses: ["10.0.0.1"] }, /addresses: .*none beside the path/],
  [{ hostName: `/${"a".repeat(107)}` }, /hostName: .*at most 107 bytes/],
])("%j is refused", (fields, message) => {
  expect(() => parseKind("Endpoint", { name: "a", group: "web", ...fields })).toThrow(message);
});
