import fc from "fast-check";
import { expect, test } from "vitest";
import {
  sampleEndpoint,
  sampleGroup,
  sampleListener,
  sampleNode,
  samplePort,
  sampleService,
} from "../../../test/support/samples.ts";
import type { Endpoint } from "../model/endpoint.ts";
import { keyOf, type ModelObject } from "../model/object.ts";
import { GlobalStore } from "../store/global-store.ts";
import { NodeWatcher } from "./node-watcher.ts";
import { ALL_SETS, type Op } from "./ops.ts";

function words(ops: readonly Op[] | undefined): string[] | undefined {
  return ops?.map((op) => ("path" in op ? `${op.op} ${op.set} ${op.path}` : op.op));
}

function storeWith(...objects: ModelObject[]): GlobalStore {
  const store = new GlobalStore();
  store.transact("test", (tx) => tx.replaceAll(objects));
  return store;
}

function set(store: GlobalStore, ...objects: ModelObject[]): void {
  store.transact("test", (tx) => {
    for (const object of objects) tx.set(object);
  });
}

const web = sampleService({ name: "web", clusterIPs: ["10.0.0.1"] });
const pod = (name: string, fields: Partial<Endpoint> = {}) =>
  sampleEndpoint({ group: "web", name, addresses: [`10.1.0.${name.charCodeAt(0)}`], ...fields });

test("the first change is the whole state between reset and sync, in order", () => {
  const store = storeWith(
    pod("b"),
    pod("a"),
    web,
    sampleService({ name: "web-2" }),
    sampleEndpoint({ group: "web-2", addresses: ["10.1.1.1"] }),
    sampleEndpoint({ group: "absent", addresses: ["10.1.1.2"] }),
  );
  expect(words(new NodeWatcher(store, "n").poll())).toEqual([
    "reset",
    "set services default/web",
    "set services default/web-2",
    "set endpoints default/web-2/10.1.1.1",
    "set endpoints default/web/a",
    "set endpoints default/web/b",
    "sync",
  ]);
});

test("an edge address leads to whole instances: a service needs no ports for them", () => {
  const edge = sampleService({
    name: "edge",
    ports: [],
    edgeIPs: [{ address: "10.30.0.1", policy: "round-robin", instance: -1 }],
  });
  const at = (name: string, fields: Partial<Endpoint> = {}) =>
    sampleEndpoint({ group: "edge", name, addresses: ["10.18.0.2"], ...fields });
  const store = storeWith(edge, at("a"), at("b", { ready: false }));
  const watcher = new NodeWatcher(store, "n");
  expect(words(watcher.poll())).toEqual([
    "reset",
    "set services default/edge",
    "set endpoints default/edge/a",
    "sync",
  ]);
  set(store, { ...edge, edgeIPs: [] });
  expect(words(watcher.poll())).toContain("delete endpoints default/edge/a");
});

test("an empty state is a change too, but only once all sources are synced", () => {
  const store = new GlobalStore();
  store.register("kube");
  const watcher = new NodeWatcher(store, "n");
  expect(watcher.poll()).toBeUndefined();
  store.transact("kube", (tx) => tx.set(web));
  store.transact("kube", (tx) => tx.replaceAll([]));
  expect(watcher.poll()).toBeUndefined();
  store.markSynced("kube");
  expect(words(watcher.poll())).toEqual(["reset", "sync"]);
  expect(watcher.poll()).toBeUndefined();
});

test("one endpoint's change is that one item", () => {
  const store = storeWith(web, pod("a"), pod("b"));
  const watcher = new NodeWatcher(store, "n");
  watcher.poll();
  set(store, pod("a", { weight: 5 }));
  expect(words(watcher.poll())).toEqual(["set endpoints default/web/a", "sync"]);
  set(store, pod("b", { ready: false, serving: false }));
  expect(words(watcher.poll())).toEqual(["delete endpoints default/web/b", "sync"]);
  expect(watcher.poll()).toBeUndefined();
});

test("changes coalesce while a watcher does not look, and what came and went is not told", () => {
  const store = storeWith(web, pod("a"));
  const watcher = new NodeWatcher(store, "n");
  watcher.poll();
  set(store, pod("c"));
  set(store, pod("a", { weight: 2 }));
  set(store, pod("a", { weight: 3 }));
  store.transact("test", (tx) => tx.delete("Endpoint", "default/web/c"));
  const ops = watcher.poll();
  expect(words(ops)).toEqual(["set endpoints default/web/a", "sync"]);
  expect(ops?.[0]).toMatchObject({ value: { endpoint: { weight: 3 } } });
  set(store, pod("a", { weight: 9 }));
  set(store, pod("a", { weight: 3 }));
  expect(watcher.poll()).toBeUndefined();
});

test("a service and its endpoints come and go together, endpoints inside", () => {
  const store = storeWith(pod("a"));
  const watcher = new NodeWatcher(store, "n");
  expect(words(watcher.poll())).toEqual(["reset", "sync"]);
  set(store, web);
  expect(words(watcher.poll())).toEqual([
    "set services default/web",
    "set endpoints default/web/a",
    "sync",
  ]);
  store.transact("test", (tx) => tx.delete("Service", "default/web"));
  expect(words(watcher.poll())).toEqual([
    "delete endpoints default/web/a",
    "delete services default/web",
    "sync",
  ]);
});

test("none anywhere is told apart from none for this node", () => {
  const local = { ...web, internalTrafficPolicy: "Local" } as const;
  const store = storeWith(local, pod("a", { node: "other" }));
  const watcher = new NodeWatcher(store, "n");
  const [, service] = watcher.poll() ?? [];
  expect(service).toMatchObject({ set: "services", value: { usable: [["v4"]] } });
  store.transact("test", (tx) => tx.delete("Endpoint", "default/web/a"));
  const ops = watcher.poll();
  expect(words(ops)).toEqual(["set services default/web", "sync"]);
  expect(ops?.[0]).toMatchObject({ value: { usable: [[]] } });
});

const DNS = { port: 53, targetPort: 5353, nodePort: 0, targetPortName: "" };

test("UDP endpoints that end and still serve are told with the service, not as endpoints", () => {
  const dns = sampleService({
    name: "web",
    ports: [
      { ...DNS, name: "dns", protocol: "UDP" },
      { ...DNS, name: "tcp", protocol: "TCP" },
    ],
  });
  const ending = { ready: false, serving: true, terminating: true };
  const store = storeWith(dns, pod("a"), pod("b", { addresses: ["10.1.0.9"] }));
  const watcher = new NodeWatcher(store, "n");
  const [, service] = watcher.poll() ?? [];
  expect(service).not.toHaveProperty("value.ending");
  set(store, pod("b", { addresses: ["10.1.0.9"], ...ending }));
  const ops = watcher.poll();
  expect(words(ops)).toContain("delete endpoints default/web/b");
  const told = ops?.find((op) => op.op === "set" && op.set === "services");
  expect(told).toMatchObject({
    value: { ending: [{ portIndex: 0, address: "10.1.0.9", target: 5353 }] },
  });
  set(store, pod("b", { addresses: ["10.1.0.9"], ...ending, serving: false }));
  const [after] = watcher.poll() ?? [];
  expect(after).toMatchObject({ set: "services" });
  expect(after).not.toHaveProperty("value.ending");
});

test("an endpoint says for each port and family in which lists it is", () => {
  const service = sampleService({
    name: "web",
    externalTrafficPolicy: "Local",
    ports: [
      samplePort({ name: "http", nodePort: 30080 }),
      samplePort({ name: "metrics", port: 9090, nodePort: 30090 }),
    ],
  });
  const http = { name: "http", port: 8080 };
  const metrics = { name: "metrics", port: 9091 };
  const store = storeWith(
    service,
    pod("a", { node: "here", addresses: ["10.1.0.1", "fd00::1"], ports: [http, metrics] }),
    pod("b", { node: "there", ports: [http] }),
  );
  const [, , a, b] = new NodeWatcher(store, "here").poll() ?? [];
  const both = ["v4", "v6"];
  expect(a).toMatchObject({
    value: {
      local: true,
      ports: [
        { name: "http", target: 8080, clusterFor: both, localFor: both },
        { name: "metrics", target: 9091, clusterFor: both, localFor: both },
      ],
    },
  });
  expect(b).toMatchObject({
    value: {
      local: false,
      ports: [{ name: "http", target: 8080, clusterFor: ["v4"], localFor: [] }],
    },
  });
});

test("nodes that use an endpoint in different ways are each told their own", () => {
  const store = storeWith(
    web,
    pod("a", { addresses: ["10.1.0.1", "fd00::1"], hints: { zones: ["east"], nodes: [] } }),
    pod("b", { addresses: ["10.1.0.2"], hints: { zones: ["west"], nodes: [] } }),
    // Without a hint there is no topology for IPv6.
    pod("c", { addresses: ["fd00::3"] }),
    sampleNode({ name: "e", zone: "east" }),
    sampleNode({ name: "w", zone: "west" }),
  );
  const familiesOfA = (node: string) => {
    for (const op of new NodeWatcher(store, node).poll() ?? []) {
      const isA = op.op === "set" && op.set === "endpoints" && op.path === "default/web/a";
      if (isA) return op.value.ports[0]?.clusterFor;
    }
    return undefined;
  };
  expect([familiesOfA("e"), familiesOfA("w"), familiesOfA("e")]).toEqual([
    ["v4", "v6"],
    ["v6"],
    ["v4", "v6"],
  ]);
});

test("endpoints that no list of a node uses are not sent to it", () => {
  const service = { ...web, internalTrafficPolicy: "Local" } as const;
  const pods = [
    pod("a", { node: "here" }),
    pod("b", { node: "there" }),
    pod("c", { ready: false }),
  ];
  const store = storeWith(service, ...pods);
  const endpoints = (node: string) =>
    words(new NodeWatcher(store, node).poll())?.filter((word) => word.includes("endpoints"));
  expect(endpoints("here")).toEqual(["set endpoints default/web/a"]);
  set(store, sampleListener({ name: "l", service: "default/web" }));
  expect(endpoints("here")).toEqual(["set endpoints default/web/a", "set endpoints default/web/b"]);
});

test("endpoints of groups that services share are named with their group", () => {
  const hints = { host: "", port: 0, path: "" };
  const groups = [
    { group: "default/blue", weight: 3, hints },
    { group: "default/web", weight: 1, hints },
  ];
  const store = storeWith(
    { ...web, groups },
    pod("a"),
    sampleEndpoint({ group: "blue", name: "a", addresses: ["10.1.2.1"] }),
  );
  const ops = new NodeWatcher(store, "n").poll();
  expect(words(ops)?.slice(2, 4)).toEqual([
    "set endpoints default/web/a",
    "set endpoints default/web/a@@default@@blue",
  ]);
  expect(ops?.[3]).toMatchObject({ value: { group: "default/blue", service: "default/web" } });
});

test("further sets are sent where they are wanted, listeners to their own node", () => {
  const store = storeWith(
    sampleNode({ name: "n" }),
    sampleGroup({ name: "g" }),
    sampleListener({ name: "all", service: "default/web" }),
    sampleListener({ name: "mine", service: "default/web", node: "n", port: 1 }),
    sampleListener({ name: "other", service: "default/web", node: "m", port: 2 }),
  );
  const watcher = new NodeWatcher(store, "n", ALL_SETS);
  expect(words(watcher.poll())).toEqual([
    "reset",
    "set nodes n",
    "set groups default/g",
    "set listeners default/all",
    "set listeners default/mine",
    "sync",
  ]);
  set(store, sampleListener({ name: "mine", service: "default/web", node: "m", port: 1 }));
  expect(words(watcher.poll())).toEqual(["delete listeners default/mine", "sync"]);
  const plain = new NodeWatcher(store, "n");
  expect(words(plain.poll())).toEqual(["reset", "sync"]);
});

test("a watcher that fell too far behind is sent the whole state again", () => {
  const store = new GlobalStore({ historyLimit: 4 });
  const watcher = new NodeWatcher(store, "n");
  watcher.poll();
  for (let n = 0; n < 20; n += 1) set(store, sampleService({ name: `s${n}` }));
  const ops = words(watcher.poll());
  expect(ops?.[0]).toBe("reset");
  expect(ops).toHaveLength(22);
  set(store, web);
  expect(words(watcher.poll())).toEqual(["set services default/web", "sync"]);
});

test("next waits for what concerns the node, and ends with the signal", async () => {
  const store = storeWith(web);
  const watcher = new NodeWatcher(store, "n");
  await watcher.next();
  const change = watcher.next();
  set(store, sampleNode({ name: "elsewhere" }));
  set(store, pod("a"));
  expect(words(await change)).toContain("set endpoints default/web/a");
  const controller = new AbortController();
  const aborted = watcher.next(controller.signal);
  controller.abort();
  await expect(aborted).rejects.toMatchObject({ code: "ERR_ABORTED" });
});

/** What a client has that applied the operations. */
class Mirror {
  readonly items = new Map<string, unknown>();

  apply(ops: readonly Op[] | undefined): void {
    for (const op of ops ?? []) {
      if (op.op === "reset") this.items.clear();
      if (op.op === "set") {
        const id = `${op.set} ${op.path}`;
        expect(this.items.get(id), `${id} is sent only when it changed`).not.toEqual(op.value);
        this.items.set(id, op.value);
      }
      if (op.op === "delete") expect(this.items.delete(`${op.set} ${op.path}`)).toBe(true);
    }
  }
}

const hintsArbitrary = fc.record({
  zones: fc.subarray(["a", "b"]),
  nodes: fc.subarray(["n1", "n2"]),
});

const objectArbitrary: fc.Arbitrary<ModelObject> = fc.oneof(
  fc
    .record({
      name: fc.constantFrom("web", "web-2"),
      internalTrafficPolicy: fc.constantFrom("Cluster" as const, "Local" as const),
      externalTrafficPolicy: fc.constantFrom("Cluster" as const, "Local" as const),
      nodePort: fc.constantFrom(0, 30080),
      shared: fc.boolean(),
    })
    .map(({ name, nodePort, shared, ...policies }) =>
      sampleService({
        name,
        ports: [samplePort({ nodePort: nodePort && nodePort + name.length })],
        groups: shared
          ? [{ group: "default/web", weight: 1, hints: { host: "", port: 0, path: "" } }]
          : [],
        ...policies,
      }),
    ),
  fc
    .record({
      group: fc.constantFrom("web", "web-2"),
      name: fc.constantFrom("p", "q", "r"),
      addresses: fc.constantFrom(["10.1.0.1"], ["10.1.0.2"], ["fd00::1"], ["10.1.0.3", "fd00::3"]),
      node: fc.constantFrom("", "n1", "n2"),
      hints: hintsArbitrary,
      ready: fc.boolean(),
      serving: fc.boolean(),
      terminating: fc.boolean(),
    })
    .map(sampleEndpoint),
  fc
    .record({ name: fc.constantFrom("n1", "n2"), zone: fc.constantFrom("", "a", "b") })
    .map(sampleNode),
  fc
    .record({
      name: fc.constantFrom("l"),
      service: fc.constantFrom("default/web", "default/web-2"),
    })
    .map(sampleListener),
);

const stepArbitrary = fc.record({
  sets: fc.array(objectArbitrary, { maxLength: 3 }),
  deletes: fc.array(objectArbitrary, { maxLength: 2 }),
  polls: fc.boolean(),
});

test("after any history a watcher has what a new one is sent, by the fewest operations", () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { maxLength: 12 }), (steps) => {
      const store = new GlobalStore({ historyLimit: 1000 });
      const watcher = new NodeWatcher(store, "n1", ALL_SETS);
      const mirror = new Mirror();
      for (const { sets, deletes, polls } of steps) {
        store.transact("test", (tx) => {
          for (const object of deletes) tx.delete(object.kind, keyOf(object));
          for (const object of sets) tx.set(object);
        });
        if (polls) mirror.apply(watcher.poll());
      }
      mirror.apply(watcher.poll());
      const fresh = new Mirror();
      fresh.apply(new NodeWatcher(store, "n1", ALL_SETS).poll());
      expect(mirror.items).toEqual(fresh.items);
      expect(watcher.poll()).toBeUndefined();
    }),
    { numRuns: 500 },
  );
});

test("tells the revision that a change brings, and those that bring nothing for the node", async () => {
  const store = storeWith(web);
  const watcher = new NodeWatcher(store, "n", ["listeners"]);
  await watcher.next();
  expect(watcher.revision).toBe(1);
  const quiet: number[] = [];
  const next = watcher.next(undefined, (revision) => quiet.push(revision));
  set(store, sampleListener({ name: "elsewhere", service: "default/web", node: "other" }));
  await Promise.resolve();
  set(store, sampleListener({ name: "here", service: "default/web", node: "n", port: 81 }));
  expect(words(await next)).toEqual(["set listeners default/here", "sync"]);
  expect(watcher.revision).toBe(3);
  expect(quiet).toEqual([1, 2]);
});
