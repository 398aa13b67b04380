import { expect, test } from "vitest";
import { endpointSchema } from "../../../core/model/endpoint.ts";
import { nodeSchema } from "../../../core/model/node.ts";
import type { ModelObject } from "../../../core/model/object.ts";
import { serviceSchema } from "../../../core/model/service.ts";
import { formatSocketAddress } from "../../../platform/socket-address.ts";
import type { EngineConfig } from "../../../proxy/engine-config.ts";
import { fullStateOf } from "../../full-state.fixture.ts";
import type { NodeFacts } from "../node-facts.ts";
import { type EnginePlan, planEngine } from "../plan-engine.ts";
import { RedirectPorts } from "./redirect-ports.ts";
import { identityOf } from "./redirect-table.ts";

const NODE = nodeSchema.parse({
  kind: "Node",
  name: "node-a",
  addresses: ["192.0.2.1", "2001:db8::1"],
});

async function plan(
  objects: readonly ModelObject[],
  facts: Partial<NodeFacts> = {},
): Promise<EnginePlan> {
  return planEngine(await fullStateOf([NODE, ...objects]), {
    nodeName: "node-a",
    machineAddresses: new Set(["192.0.2.1", "2001:db8::1", "198.51.100.7"]),
    nodePortAddresses: "primary",
    redirectPorts: new RedirectPorts(26_000),
    ...facts,
  });
}

function service(more: Readonly<Record<string, unknown>>): ModelObject {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    type: "ClusterIP",
    clusterIPs: ["10.96.0.10"],
    ports: [{ port: 80, targetPort: 8080 }],
    ...more,
  });
}

function endpoint(more: Readonly<Record<string, unknown>> = {}): ModelObject {
  return endpointSchema.parse({
    kind: "Endpoint",
    name: "a",
    group: "web",
    addresses: ["10.0.0.1", "fd00::1"],
    node: "node-a",
    ...more,
  });
}

function elementsOf({ redirect }: EnginePlan): readonly string[] {
  return [...redirect.v4, ...redirect.v6].map(identityOf);
}

function listenersOf({ config }: EnginePlan): readonly string[] {
  return config.listeners.map(({ address, mode }) => `${formatSocketAddress(address)} ${mode}`);
}

function serversOf({ upstreams, groups }: EngineConfig, upstream: string): readonly string[] {
  const keys = upstreams.find(({ key }) => key === upstream)?.groups.map(({ group }) => group);
  return groups
    .filter(({ key }) => keys?.includes(key))
    .flatMap(({ servers }) => servers.map(({ host }) => host));
}

test("TCP of all addresses is led to one port a family, and told apart by the address", async () => {
  const both = service({ clusterIPs: ["10.96.0.10", "fd00:96::10"] });
  const other = service({ name: "other", clusterIPs: ["10.96.0.11"] });
  const planned = await plan([both, other, endpoint()]);
  expect(listenersOf(planned)).toEqual(["192.0.2.1:26000 tcp", "[2001:db8::1]:26000 tcp"]);
  const [first] = planned.config.listeners;
  expect(first?.redirected.map(({ address }) => formatSocketAddress(address))).toEqual([
    "10.96.0.10:80",
  ]);
  expect(serversOf(planned.config, first?.redirected[0]?.upstream ?? "")).toEqual(["10.0.0.1"]);
  expect(serversOf(planned.config, first?.upstream ?? "")).toEqual([]);
  expect(elementsOf(planned)).toEqual([
    "owned 10.96.0.11",
    "owned 10.96.0.10",
    'rejected 10.96.0.11 . tcp . 80 comment "default/other"',
    'led 10.96.0.10 . tcp . 80 comment "default/web" : 192.0.2.1 . 26000',
    "owned fd00:96::10",
    'led fd00:96::10 . tcp . 80 comment "default/web" : 2001:db8::1 . 26000',
  ]);
  expect(planned.notHonoured).toEqual([]);
});

test("datagrams have a port for each port of a service, which stays", async () => {
  const redirectPorts = new RedirectPorts(26_000);
  const udp = (name: string, ip: string) =>
    service({ name, clusterIPs: [ip], ports: [{ port: 53, protocol: "UDP", targetPort: 5353 }] });
  const serverOf = (group: string) => endpoint({ group });
  const objects = [udp("b", "10.96.0.2"), serverOf("b"), udp("c", "10.96.0.3"), serverOf("c")];
  const before = await plan(objects, { redirectPorts });
  expect(listenersOf(before)).toEqual(["192.0.2.1:26001 udp", "192.0.2.1:26002 udp"]);
  const first = [udp("a", "10.96.0.1"), serverOf("a")];
  const after = await plan([...first, ...objects.slice(2)], { redirectPorts });
  expect(elementsOf(after).filter((text) => text.startsWith("led"))).toEqual([
    'led 10.96.0.1 . udp . 53 comment "default/a" : 192.0.2.1 . 26001',
    'led 10.96.0.3 . udp . 53 comment "default/c" : 192.0.2.1 . 26002',
  ]);
});

test("external IPs of this machine are listened on, others redirected with their policy and ranges", async () => {
  const planned = await plan([
    service({
      type: "LoadBalancer",
      clusterIPs: [],
      externalIPs: ["198.51.100.7", "198.51.100.8"],
      loadBalancerIPs: ["198.51.100.9"],
      sourceRanges: ["192.0.2.0/24"],
      externalTrafficPolicy: "Local",
    }),
    endpoint(),
    endpoint({ name: "b", addresses: ["10.0.0.2"], node: "node-b" }),
  ]);
  expect(listenersOf(planned)).toEqual(["198.51.100.7:80 tcp", "192.0.2.1:26000 tcp"]);
  const [external, loadBalancer] = planned.config.listeners[1]?.redirected ?? [];
  expect(external?.access).toBeUndefined();
  expect(loadBalancer?.access?.rules.map(({ network }) => network)).toContain("192.0.2.0/24");
  expect(serversOf(planned.config, external?.upstream ?? "")).toEqual(["10.0.0.1"]);
  const exception = external?.exceptions[0]?.upstream ?? "";
  expect(serversOf(planned.config, exception)).toEqual(["10.0.0.1", "10.0.0.2"]);
  // Others may use the other ports of such an address.
  expect(elementsOf(planned).filter((text) => text.startsWith("owned"))).toEqual([]);
});

test("what nobody serves is rejected, and what nobody here serves for a Local policy dropped", async () => {
  const local = service({ internalTrafficPolicy: "Local" });
  const far = endpoint({ name: "b", node: "node-b" });
  expect(elementsOf(await plan([local, far]))).toContain(
    'dropped 10.96.0.10 . tcp . 80 comment "default/web"',
  );
  expect(elementsOf(await plan([local]))).toContain(
    'rejected 10.96.0.10 . tcp . 80 comment "default/web"',
  );
  const planned = await plan([local, endpoint(), far]);
  const [listener] = planned.config.listeners;
  expect(serversOf(planned.config, listener?.redirected[0]?.upstream ?? "")).toEqual(["10.0.0.1"]);
});

test("without a Node object another address of the machine is taken, or loopback", async () => {
  const objects = [service({}), endpoint()];
  const elsewhere = { nodeName: "nobody" };
  const known = new Set(["127.0.0.1", "10.1.1.2", "10.1.1.1"]);
  expect(listenersOf(await plan(objects, { ...elsewhere, machineAddresses: known }))).toEqual([
    "10.1.1.1:26000 tcp",
  ]);
  expect(listenersOf(await plan(objects, { ...elsewhere, machineAddresses: new Set() }))).toEqual([
    "127.0.0.1:26000 tcp",
  ]);
});

test("more UDP ports than there are local ones for are refused", () => {
  const ports = new RedirectPorts(26_000);
  const owners = Array.from({ length: 3999 }, (_, index) => `owner ${index}`);
  expect(Math.max(...ports.assignUdp(owners).values())).toBe(29_999);
  expect(() => ports.assignUdp([...owners, "one more"])).toThrow("4000 UDP ports");
});
