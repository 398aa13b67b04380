import { endpointSchema } from "../../core/model/endpoint.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { fullStateOf } from "../full-state.fixture.ts";
import type { NodeFacts } from "./node-facts.ts";
import { type EnginePlan, planEngine } from "./plan-engine.ts";

const FACTS: NodeFacts = {
  nodeName: "node-a",
  machineAddresses: new Set(["192.0.2.1", "198.51.100.7", "203.0.113.20", "2001:db8::1"]),
  nodePortAddresses: "primary",
};

/** What the engine of node-a is told of these objects. */
export async function plan(
  objects: readonly ModelObject[],
  facts: Partial<NodeFacts> = {},
): Promise<EnginePlan> {
  return planEngine(await fullStateOf(objects), { ...FACTS, ...facts });
}

export function service(more: Readonly<Record<string, unknown>>): ModelObject {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    type: "Plain",
    ports: [{ port: 80, targetPort: 8080 }],
    ...more,
  });
}

export function endpoint(name: string, more: Readonly<Record<string, unknown>> = {}): ModelObject {
  return endpointSchema.parse({
    kind: "Endpoint",
    name,
    group: "web",
    addresses: ["10.0.0.1", "fd00::1"],
    node: "node-a",
    ...more,
  });
}

export function listener(more: Readonly<Record<string, unknown>> = {}): ModelObject {
  return listenerSchema.parse({
    kind: "Listener",
    name: "front",
    address: "127.0.0.1",
    port: 8080,
    service: "default/web",
    ...more,
  });
}
