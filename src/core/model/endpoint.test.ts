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
