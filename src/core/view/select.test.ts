import { expect, test } from "vitest";
import { sampleEndpoint, samplePort, sampleService } from "../../../test/support/samples.ts";
import type { Endpoint } from "../model/endpoint.ts";
import { keyOf } from "../model/object.ts";
import type { ServicePort } from "../model/service.ts";
import type { ServiceState } from "../store/state.ts";
import { type NodePlace, selectEndpoints } from "./select.ts";

const here: NodePlace = { name: "node-a", zone: "a" };
const terminating = { ready: false, serving: true, terminating: true };
const notReady = { ready: false, serving: false };

let count = 0;
function endpoint(name: string, fields: Partial<Endpoint> = {}): Endpoint {
  count += 1;
  return sampleEndpoint({ group: "web", name, addresses: [`10.1.0.${count}`], ...fields });
}

function stateOf(endpoints: readonly Endpoint[]): ServiceState {
  const service = sampleService({ name: "web" });
  const ref = { group: "default/web", weight: 1, hints: { host: "", port: 0, path: "" } };
  const endpointKeys = endpoints.map(keyOf);
  const state = { key: "default/web", group: undefined, endpoints, endpointKeys };
  return { key: "default/web", service, listened: false, groups: [{ ref, state }] };
}

function select(
  endpoints: readonly Endpoint[],
  place: NodePlace = here,
  port: ServicePort = samplePort(),
) {
  const selection = selectEndpoints(stateOf(endpoints), port, "v4", place);
  const names = (list: ReadonlyMap<Endpoint, unknown>) => [...list.keys()].map(({ name }) => name);
  return {
    topology: selection.topology,
    cluster: names(selection.cluster),
    local: names(selection.local),
    hasAny: selection.hasAny,
    excluded: Object.fromEntries([...selection.excluded].map(([{ name }, why]) => [name, why])),
  };
}

const onA = { node: "node-a" };
const onB = { node: "node-b" };
const zones = (...names: string[]) => ({ hints: { zones: names, nodes: [] } });
const nodes = (...names: string[]) => ({ hints: { zones: [], nodes: names } });

test("ready endpoints are used, local ones by the Local list", () => {
  const found = select([endpoint("p", onA), endpoint("q", onB), endpoint("r", notReady)]);
  expect(found).toEqual({
    topology: "none",
    cluster: ["p", "q"],
    local: ["p"],
    hasAny: true,
    excluded: { r: "not-ready" },
  });
});

test("terminating endpoints that still serve are used only where nothing is ready", () => {
  const ending = endpoint("ending", { ...onA, ...terminating });
  expect(select([ending, endpoint("ready", onB)])).toMatchObject({
    cluster: ["ready"],
    local: ["ending"],
  });
  expect(select([ending])).toMatchObject({ cluster: ["ending"], local: ["ending"], hasAny: true });
  expect(select([ending, endpoint("ready", onA)])).toMatchObject({
    local: ["ready"],
    excluded: { ending: "terminating" },
  });
});

test("an endpoint that ends and no longer serves is used nowhere", () => {
  const gone = endpoint("gone", { ...onA, ...terminating, serving: false });
  expect(select([gone])).toMatchObject({ cluster: [], local: [], hasAny: false });
});

test("an endpoint without a node is local to no node, not even to one without a name", () => {
  expect(select([endpoint("p")], { name: "", zone: "" }).local).toEqual([]);
});

test("zone hints hold where every ready endpoint has one and one is for this zone", () => {
  const p = endpoint("p", zones("a"));
  const q = endpoint("q", zones("b"));
  expect(select([p, q])).toMatchObject({
    topology: "same-zone",
    cluster: ["p"],
    excluded: { q: "hinted-elsewhere" },
  });
  expect(select([p, q, endpoint("bare")]).topology).toBe("none");
  expect(select([p, q, endpoint("bare", notReady)]).topology).toBe("same-zone");
  expect(select([p, q], { name: "node-c", zone: "c" })).toMatchObject({
    topology: "none",
    cluster: ["p", "q"],
  });
  expect(select([p, q], { name: "node-z", zone: "" }).topology).toBe("none");
});

test("node hints come before zone hints, with the same safeguards", () => {
  const both = { hints: { zones: ["a"], nodes: ["node-a"] } };
  const p = endpoint("p", both);
  const q = endpoint("q", { hints: { zones: ["a"], nodes: ["node-b"] } });
  expect(select([p, q])).toMatchObject({ topology: "same-node", cluster: ["p"] });
  expect(select([p, q], { name: "node-x", zone: "a" })).toMatchObject({
    topology: "same-zone",
    cluster: ["p", "q"],
  });
  expect(select([p, endpoint("r", zones("a"))]).topology).toBe("same-zone");
  expect(select([endpoint("s", nodes("node-a")), endpoint("t")]).topology).toBe("none");
});

test("hints do not bind the Local list, nor the terminating fall-back", () => {
  expect(
    select([endpoint("p", { ...onA, ...zones("b") }), endpoint("q", zones("a"))]),
  ).toMatchObject({ cluster: ["q"], local: ["p"] });
  const ending = endpoint("ending", { ...terminating, ...zones("b") });
  expect(select([ending])).toMatchObject({ topology: "none", cluster: ["ending"] });
});

test("of two records of one address the one that does not end counts, once", () => {
  const addresses = ["10.9.9.9"];
  const old = endpoint("old", { addresses, ...terminating });
  const fresh = endpoint("fresh", { addresses });
  const expected = { cluster: ["fresh"], excluded: { old: "duplicate" } };
  expect(select([old, fresh])).toMatchObject(expected);
  expect(select([fresh, old])).toMatchObject(expected);
  const unready = endpoint("unready", { addresses, ...notReady });
  expect(select([unready, fresh])).toMatchObject({ cluster: ["fresh"] });
  expect(select([fresh, endpoint("twin", { addresses })])).toMatchObject({ cluster: ["fresh"] });
  const elsewhere = endpoint("elsewhere", { addresses, ports: [{ name: "", port: 9999 }] });
  expect(select([fresh, elsewhere]).cluster).toEqual(["fresh", "elsewhere"]);
});

test("a server of two groups counts in both", () => {
  const ref = (group: string) => ({ group, weight: 1, hints: { host: "", port: 0, path: "" } });
  const groups = ["blue", "green"].map((group) => {
    const key = `default/${group}`;
    const twin = endpoint(group, { group, addresses: ["10.9.9.9"] });
    const endpoints = { endpoints: [twin], endpointKeys: [keyOf(twin)] };
    return { ref: ref(key), state: { key, group: undefined, ...endpoints } };
  });
  const state = { ...stateOf([]), groups };
  expect(selectEndpoints(state, samplePort(), "v4", here).cluster.size).toBe(2);
});

test("a port decides by its name, then by its target's name, then by the number", () => {
  const named = endpoint("named", { ports: [{ name: "http", port: 8081 }] });
  const plain = endpoint("plain");
  const target = (port: ServicePort, each: Endpoint) =>
    selectEndpoints(stateOf([each]), port, "v4", here).cluster.get(each);
  expect(target(samplePort({ name: "http" }), named)).toBe(8081);
  expect(target(samplePort({ targetPortName: "http", targetPort: 0 }), named)).toBe(8081);
  expect(target(samplePort({ name: "other" }), named)).toBeUndefined();
  expect(target(samplePort({ name: "other", targetPortName: "http" }), named)).toBeUndefined();
  expect(target(samplePort(), plain)).toBe(8080);
  expect(target(samplePort({ targetPort: 0 }), plain)).toBeUndefined();
  expect(select([named], here, samplePort({ name: "x" })).excluded).toEqual({
    named: "port-not-served",
  });
});

test("each family stands by itself", () => {
  const six = endpoint("six", { addresses: ["fd00::1"], ...zones("b") });
  const four = endpoint("four");
  const state = stateOf([four, six]);
  const v6 = selectEndpoints(state, samplePort(), "v6", here);
  expect([...v6.cluster.keys()]).toEqual([six]);
  expect(v6.excluded.get(four)).toBe("other-family");
  const named = endpoint("named", { addresses: [], hostName: "db.example" });
  expect(selectEndpoints(stateOf([named]), samplePort(), "v6", here).cluster.size).toBe(1);
  const wanted = endpoint("wanted", { addresses: [], hostName: "db.example", families: ["v4"] });
  const sizeIn = (family: "v4" | "v6"): number =>
    selectEndpoints(stateOf([wanted]), samplePort(), family, here).cluster.size;
  expect([sizeIn("v4"), sizeIn("v6")]).toEqual([1, 0]);
});

test("unix sockets of one path on two nodes are two", () => {
  const socket = { addresses: [], hostName: "/run/web.sock" };
  const both = [endpoint("p", { ...socket, ...onA }), endpoint("q", { ...socket, ...onB })];
  expect(select(both).cluster).toEqual(["p"]);
  expect(select(both, { name: "node-b", zone: "" }).cluster).toEqual(["q"]);
});

test("a unix socket is of its node alone, of every node where it names none", () => {
  const socket = (name: string, fields: Partial<Endpoint> = {}) =>
    endpoint(name, { addresses: [], hostName: `/run/${name}.sock`, ...fields });
  expect(select([socket("p", onA), socket("q", onB), socket("r")])).toMatchObject({
    cluster: ["p", "r"],
    local: ["p"],
    excluded: { q: "socket-elsewhere" },
  });
  expect(select([socket("q", onB)])).toMatchObject({ cluster: [], local: [], hasAny: true });
  expect(select([socket("r")], here, samplePort({ protocol: "UDP" }))).toMatchObject({
    excluded: { r: "port-not-served" },
  });
});
