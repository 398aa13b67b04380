import { expect, test } from "vitest";
import { endpointSchema } from "../core/model/endpoint.ts";
import { serviceSchema } from "../core/model/service.ts";
import { fullStateOf } from "./full-state.fixture.ts";
import { selfCallers } from "./self-callers.ts";

test("are the endpoints of this node, and those of which no node is known", async () => {
  const ports = [{ port: 80, targetPort: 8080 }];
  const service = serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: ["10.96.0.1", "fd00:96::1"],
    ports,
  });
  const on = (node: string, ...addresses: readonly string[]) =>
    endpointSchema.parse({
      kind: "Endpoint",
      name: `web-${addresses[0]}`,
      group: "web",
      node,
      addresses,
    });
  const state = await fullStateOf([
    service,
    on("node-a", "10.1.0.1", "fd00::1"),
    on("node-b", "10.1.1.1"),
    on("", "10.1.2.1"),
  ]);
  const item = state.services.get("default/web");
  if (item === undefined) throw new Error("the service is not in the state");
  expect([...selfCallers(item)].sort()).toEqual(["10.1.0.1", "10.1.2.1", "fd00::1"]);
});
