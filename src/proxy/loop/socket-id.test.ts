import { expect, test } from "vitest";
import { ipAddress, unixAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig } from "../engine-config.ts";
import { simulatedConfig } from "./simulated-proxy.fixture.ts";
import { socketsOf } from "./socket-id.ts";

function idsOf(changes: Partial<ListenerConfig>): readonly string[] {
  const [listener] = simulatedConfig([], { listener: changes }).listeners;
  return listener === undefined ? [] : socketsOf(listener).map(({ id }) => id);
}

test.each([
  [{ mode: "tcp" }, ["TCP 10.0.0.1:80"]],
  [{ mode: "http", key: "other" }, ["TCP 10.0.0.1:80"]],
  [{ mode: "udp" }, ["UDP 10.0.0.1:80"]],
  [{ mode: "dns" }, ["UDP 10.0.0.1:80", "TCP 10.0.0.1:80"]],
  [{ address: unixAddress("/run/x") }, ["TCP unix:/run/x"]],
  [{ address: ipAddress("10.0.0.1", 0), key: "any" }, ["TCP 10.0.0.1:0 any"]],
] as const)("%j has %j", (changes, ids) => {
  expect(idsOf(changes)).toEqual(ids);
});
