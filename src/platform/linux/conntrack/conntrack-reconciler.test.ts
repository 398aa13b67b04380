import { expect, test } from "vitest";
import { familyOf, parseHostPort } from "../../../core/model/address.ts";
import { endpointSchema } from "../../../core/model/endpoint.ts";
import { listenerSchema } from "../../../core/model/listener.ts";
import { serviceSchema } from "../../../core/model/service.ts";
import { ADDRESS_TYPES } from "../../../core/route/verdict.ts";
import type { ServiceEndpoints } from "../../../core/sinks/fullstate.ts";
import type { FlowFilter } from "../../../wire/netlink/conntrack/encode-requests.ts";
import type { Flow } from "../../../wire/netlink/conntrack/flow.ts";
import { createConntrackReconciler } from "./conntrack-reconciler.ts";
import type { ConntrackTable } from "./conntrack-table.ts";
import { flowTargetsOf } from "./flow-targets.ts";

const KEY = "default/dns";
const NODE_IP = "192.0.2.1";
const NODE_IP_V6 = "2001:db8::1";

interface Served {
  readonly ip: string;
  readonly port?: number;
  readonly scope?: "cluster" | "local" | "both";
}

function dns(servers: readonly Served[], fields: object = {}): ServiceEndpoints {
  const service = serviceSchema.parse({
    kind: "Service",
    name: "dns",
    clusterIPs: ["10.96.0.10"],
    ports: [{ name: "dns", protocol: "UDP", port: 53, nodePort: 30053, targetPort: 53 }],
    ...fields,
  });
  return {
    service: { key: KEY, service, usable: [["v4"]] },
    endpoints: servers.map(({ ip, port = 53, scope = "cluster" }, index) => ({
      path: `${KEY}/${index}`,
      service: KEY,
      group: KEY,
      local: scope !== "cluster",
      endpoint: endpointSchema.parse({
        kind: "Endpoint",
        name: `e${index}`,
        group: "dns",
        addresses: [ip],
      }),
      ports: [
        {
          name: "dns",
          target: port,
          clusterFor: scope === "local" ? [] : [familyOf(ip)],
          localFor: scope === "cluster" ? [] : [familyOf(ip)],
        },
      ],
    })),
  };
}

let nextId = 1;

/** A flow that was sent `to` and answered by `by`; by whom it was sent to where it was not translated. */
function flow(
  to: string,
  port: number,
  by: string | undefined,
  protocol: Flow["protocol"] = "UDP",
) {
  const answering = by === undefined ? { host: to, port } : parseHostPort(by);
  nextId += 1;
  return {
    protocol,
    original: { src: "10.1.0.5", srcPort: 40_000 + nextId, dst: to, dstPort: port },
    reply: {
      src: answering?.host ?? "",
      srcPort: answering?.port ?? 0,
      dst: "10.1.0.5",
      dstPort: 40_000 + nextId,
    },
    id: nextId,
    isDestinationNat: by !== undefined,
    mark: 0,
  } satisfies Flow;
}

/** A table in memory that notes what it is asked for; `broken` fails once. */
function createFakeTable(flows: Flow[]) {
  const asked: FlowFilter[] = [];
  let isBroken = false;
  const table: ConntrackTable = {
    list: async (filter, wants, take) => {
      asked.push(filter);
      for (const each of flows) {
        const { protocol, original } = each;
        const isLetThrough =
          familyOf(original.dst) === filter.family &&
          protocol === filter.protocol &&
          original.dst === (filter.dst ?? original.dst) &&
          original.dstPort === (filter.dstPort ?? original.dstPort);
        if (isLetThrough && wants(protocol, original.dstPort)) take(each);
      }
    },
    remove: async (gone) => {
      if (isBroken) {
        isBroken = false;
        throw new Error("broken");
      }
      for (const each of gone) flows.splice(flows.indexOf(each), 1);
      return gone.length;
    },
    close: () => undefined,
  };
  return { table, asked, breakOnce: () => (isBroken = true) };
}

function setUp(flows: Flow[]) {
  const fake = createFakeTable(flows);
  const reconciler = createConntrackReconciler({
    table: fake.table,
    addressTypes: new Set(ADDRESS_TYPES),
    answersNodePorts: (ip) => ip === NODE_IP || ip === NODE_IP_V6,
  });
  const sync = (item: ServiceEndpoints | undefined) =>
    reconciler.reconcile({ get: () => item }, [KEY]);
  return { ...fake, sync, reconciler };
}

test("flows to an endpoint that no longer serves go, right ones and those of others stay", async () => {
  const right = flow("10.96.0.10", 53, "10.1.0.1:53");
  const gone = flow("10.96.0.10", 53, "10.1.0.9:53");
  const otherPort = flow("10.96.0.10", 53, "10.1.0.1:5353");
  const foreign = flow("198.51.100.1", 53, "10.1.0.9:53");
  const flows = [right, gone, otherPort, foreign];
  const { sync } = setUp(flows);
  expect(await sync(dns([{ ip: "10.1.0.1" }]))).toEqual({ looked: 3, removed: 2 });
  expect(flows).toEqual([right, foreign]);
});

test("where two services claim an address, the endpoints of both are right", async () => {
  const first = flow("10.96.0.10", 53, "10.1.0.1:53");
  const second = flow("10.96.0.10", 53, "10.1.0.2:53");
  const flows = [first, second, flow("10.96.0.10", 53, "10.1.0.9:53")];
  const { reconciler } = setUp(flows);
  const items = new Map([
    [KEY, dns([{ ip: "10.1.0.1" }])],
    ["default/other", dns([{ ip: "10.1.0.2" }])],
  ]);
  await reconciler.reconcile(items, items.keys());
  expect(flows).toEqual([first, second]);
});

test("flows through listeners follow the endpoints of their service", async () => {
  const listeners = [
    { name: "one", address: "192.0.2.7", port: 5353 },
    { name: "any", address: "0.0.0.0", port: 5354 },
  ].map((fields) =>
    listenerSchema.parse({ kind: "Listener", service: KEY, mode: "udp", ...fields }),
  );
  const right = flow("192.0.2.7", 5353, "10.1.0.1:53");
  const passing = flow("198.51.100.1", 5354, "10.1.0.9:53");
  const gone = [flow("192.0.2.7", 5353, "10.1.0.9:53"), flow(NODE_IP, 5354, "10.1.0.9:53")];
  const flows = [right, ...gone, passing];
  const { reconciler } = setUp(flows);
  const item = dns([{ ip: "10.1.0.1" }]);
  await reconciler.reconcile({ get: () => item, listenersOf: () => listeners }, [KEY]);
  expect(flows).toEqual([right, passing]);
  await reconciler.reconcile({ get: () => item, listenersOf: () => [] }, [KEY]);
  expect(flows).toEqual([passing]);
});

test("an endpoint that is here for Local calls alone has no flows to the cluster IP", async () => {
  const flows = [flow("10.96.0.10", 53, "10.1.0.1:53")];
  const { sync } = setUp(flows);
  await sync(dns([{ ip: "10.1.0.1", scope: "local" }, { ip: "10.1.0.2" }]));
  expect(flows).toEqual([]);
});

test("an endpoint that ends keeps its flows until it stops serving, though nobody is sent to it", async () => {
  const here = flow("10.96.0.10", 53, "10.1.0.1:53");
  const atNodePort = flow(NODE_IP, 30053, "10.1.0.1:53");
  const otherPort = flow("10.96.0.10", 53, "10.1.0.1:5353");
  const flows = [here, atNodePort, otherPort];
  const { sync } = setUp(flows);
  const others = dns([{ ip: "10.1.0.2" }]);
  const ending = [{ portIndex: 0, address: "10.1.0.1", target: 53 }];
  await sync({ ...others, service: { ...others.service, ending } });
  expect(flows).toEqual([here, atNodePort]);
  await sync(others);
  expect(flows).toEqual([]);
});

test("a flow that was not translated is released once there are endpoints, not before", async () => {
  const stuck = flow("10.96.0.10", 53, undefined);
  const flows = [stuck];
  const { sync } = setUp(flows);
  await sync(dns([]));
  expect(flows).toEqual([stuck]);
  await sync(dns([{ ip: "10.1.0.1" }]));
  expect(flows).toEqual([]);
});

test("without endpoints, and with the service gone, its flows go too", async () => {
  for (const next of [dns([]), undefined]) {
    const flows = [flow("10.96.0.10", 53, "10.1.0.1:53")];
    const { sync } = setUp(flows);
    await sync(dns([{ ip: "10.1.0.1" }]));
    expect(flows).toHaveLength(1);
    await sync(next);
    expect(flows).toEqual([]);
  }
});

test("TCP is left alone", async () => {
  const flows = [flow("10.96.0.10", 53, "10.1.0.9:53", "TCP")];
  const { sync, asked } = setUp(flows);
  const ports = [{ name: "dns", protocol: "TCP", port: 53, targetPort: 53 }];
  await sync(dns([{ ip: "10.1.0.1" }], { ports }));
  expect(flows).toHaveLength(1);
  expect(asked).toEqual([]);
});

test("node ports: only on addresses on which they answer", async () => {
  const stale = flow(NODE_IP, 30_053, "10.1.0.9:53");
  const through = flow("198.51.100.1", 30_053, "10.1.0.9:53");
  const flows = [stale, through];
  const { sync } = setUp(flows);
  await sync(dns([{ ip: "10.1.0.1" }]));
  expect(flows).toEqual([through]);
});

test("node ports answer by the endpoints of both families", async () => {
  const right = [flow(NODE_IP, 30_053, "10.1.0.1:53"), flow(NODE_IP_V6, 30_053, "[fd00::1]:53")];
  const flows = [...right, flow(NODE_IP_V6, 30_053, "[fd00::9]:53")];
  const { sync } = setUp(flows);
  await sync(dns([{ ip: "10.1.0.1" }, { ip: "fd00::1" }]));
  expect(flows).toEqual(right);
});

test("nothing is asked of the kernel where nothing of it changed; what failed is done again", async () => {
  const flows = [flow("10.96.0.10", 53, "10.1.0.9:53")];
  const { sync, asked, breakOnce } = setUp(flows);
  const item = dns([{ ip: "10.1.0.1" }]);
  breakOnce();
  await expect(sync(item)).rejects.toThrow("broken");
  expect(await sync(item)).toEqual({ looked: 1, removed: 1 });
  const before = asked.length;
  expect(await sync(item)).toEqual({ looked: 0, removed: 0 });
  expect(asked).toHaveLength(before);
});

test("a small change asks for its own flows, a large one for all of the protocol", async () => {
  const few = setUp([]);
  await few.sync(dns([]));
  expect(few.asked).toEqual([
    { family: "v4", protocol: "UDP", dstPort: 53, dst: "10.96.0.10" },
    { family: "v4", protocol: "UDP", dstPort: 30_053 },
    { family: "v6", protocol: "UDP", dstPort: 30_053 },
  ]);
  const many = setUp([]);
  const externalIPs = Array.from({ length: 20 }, (_, index) => `203.0.113.${index}`);
  await many.sync(dns([], { externalIPs }));
  expect(many.asked).toEqual([
    { family: "v4", protocol: "UDP" },
    { family: "v6", protocol: "UDP" },
  ]);
});

test("who may answer follows the traffic policies", () => {
  const servers: readonly Served[] = [
    { ip: "10.1.0.1", scope: "both" },
    { ip: "10.1.0.2", scope: "cluster" },
    { ip: "10.1.0.3", scope: "local" },
  ];
  const item = dns(servers, {
    externalIPs: ["203.0.113.1"],
    internalTrafficPolicy: "Local",
    externalTrafficPolicy: "Local",
  });
  const targets = flowTargetsOf(item, new Set(ADDRESS_TYPES));
  const endpointsOf = (ip: string) => targets.find((target) => target.ip === ip)?.endpoints;
  expect(endpointsOf("10.96.0.10")).toEqual(new Set(["10.1.0.1:53", "10.1.0.3:53"]));
  const all = new Set(["10.1.0.1:53", "10.1.0.2:53", "10.1.0.3:53"]);
  expect(endpointsOf("203.0.113.1")).toEqual(all);
  expect(endpointsOf("")).toEqual(all);
  expect(flowTargetsOf(item, new Set(["cluster-ip"])).map(({ ip }) => ip)).toEqual(["10.96.0.10"]);
});
