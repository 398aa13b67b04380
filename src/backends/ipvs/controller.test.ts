import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { IpvsTable } from "../../platform/linux/ipvs/ipvs-table.ts";
import type { RefusedChange } from "../../platform/linux/netlink/exchange-batches.ts";
import type { IpvsChange } from "../../wire/netlink/ipvs/encode-ipvs.ts";
import { serverId } from "../../wire/netlink/ipvs/virtual-server.ts";
import { IpvsController, joinRefusals } from "./controller.ts";
import { setsOf } from "./glue/set-names.ts";
import { createHandlers } from "./handlers/create-handlers.ts";
import {
  createFakeKernel,
  createFakePlatform,
  type FakeKernel,
} from "./kernel/fake-platform.fixture.ts";
import { Proxier } from "./kernel/proxier.ts";
import type { ServiceWithEndpoints } from "./plan/service-info.ts";

/** A controller on a kernel that is only thought of, and that refuses what it is told to. */
class Bench {
  readonly kernel: FakeKernel = createFakeKernel();
  /** The virtual servers that each telling was about. */
  readonly told: (readonly string[])[] = [];
  reads = 0;
  /** How often real servers were asked for, and how many changes were told. */
  asked = 0;
  changes = 0;
  /** How many each real server has. */
  connections = 0;
  /** The least number of real servers that there was since it was set. */
  fewest: number = Number.POSITIVE_INFINITY;
  /** Addresses that other links have, and those where things of somebody else stand. */
  readonly taken: string[] = [];
  readonly foreign: string[] = [];
  /** Whether the next answer is lost once the kernel has done what it was told. */
  losesAnswer = false;
  /** How often each virtual server is yet refused. */
  readonly refusals = new Map<string, number>();
  readonly controller: IpvsController;
  readonly proxier: Proxier;

  constructor() {
    const platform = createFakePlatform(this.kernel);
    const { ipvs, link } = platform;
    this.proxier = new Proxier({
      family: "v4",
      platform: {
        ...platform,
        link: {
          ...link,
          addresses: async (family) => ({ ...(await link.addresses(family)), others: this.taken }),
        },
        ipvs: {
          ...ipvs,
          servers: () => {
            this.reads += 1;
            return ipvs.servers();
          },
          destinations: async (server) => {
            this.asked += 1;
            const there = await ipvs.destinations(server);
            return there.map((one) => ({ ...one, activeConnections: this.connections }));
          },
          change: (changes) => this.#change(changes, ipvs.change),
        },
      },
      sets: setsOf("v4"),
      marksOf: (mark) => [mark],
      isForeign: (ip) => this.foreign.includes(ip),
    });
    this.controller = new IpvsController(createHandlers(this.proxier), this.proxier);
  }

  async sync(...services: readonly ServiceWithEndpoints[]): Promise<void> {
    for (const one of services) this.controller.replace(one.service.service, [one]);
    await this.controller.sync(services.map(({ service }) => service.service));
  }

  get served(): readonly string[] {
    return [...this.kernel.destinations.keys()].sort();
  }

  async #change(
    changes: readonly IpvsChange[],
    make: IpvsTable["change"],
  ): Promise<readonly RefusedChange[]> {
    const refused: RefusedChange[] = [];
    const about = new Set<string>();
    this.changes += changes.length;
    for (const [index, change] of changes.entries()) {
      const id = "server" in change ? serverId(change.server) : "";
      about.add(id);
      const left = this.refusals.get(id) ?? 0;
      if (change.kind === "newService" && left > 0) {
        this.refusals.set(id, left - 1);
        refused.push({ index, errno: 1, error: new CoreError("ERR_SYSTEM_CALL", `no ${id}`) });
        continue;
      }
      for (const one of await make([change])) refused.push({ ...one, index });
      this.fewest = Math.min(this.fewest, this.kernel.destinations.size);
    }
    this.told.push([...about]);
    if (this.losesAnswer) {
      this.losesAnswer = false;
      throw new CoreError("ERR_SYSTEM_CALL", "the answer was lost");
    }
    return refused;
  }
}

function serviceOf(
  host: number,
  endpoint = "10.244.0.1",
  insideMark?: number,
): ServiceWithEndpoints {
  const end = { ip: endpoint, port: 8080, protocol: "TCP", mayCallItself: false } as const;
  return {
    service: {
      id: `v4 default/s${host}`,
      service: `default/s${host}`,
      type: "ClusterIP",
      family: "v4",
      balancing: { scheduler: "wrr", flags: 0, persistenceSeconds: 0 },
      entrances: [
        {
          kind: "cluster-ip",
          protocol: "TCP",
          ip: `10.96.0.${host}`,
          port: 80,
          isNodes: false,
          list: "cluster",
          outcome: "served",
          insideMark,
          access: undefined,
        },
      ],
      healthCheckPort: 0,
    },
    endpoints: new Map([[endpoint, { ...end, clusterWeight: 1, localWeight: 1 }]]),
  };
}

/** The same where nobody serves. */
function unserved(host: number): ServiceWithEndpoints {
  const { service } = serviceOf(host);
  const entrances = service.entrances.map((one) => ({ ...one, outcome: "rejected" }) as const);
  return { service: { ...service, entrances }, endpoints: new Map() };
}

const server = (host: number): string => `TCP 10.96.0.${host}:80`;
const real = (host: number, endpoint = "10.244.0.1"): string => `${server(host)} ${endpoint}:8080`;

test("each group that is refused is tried again by itself; the others are there with the first try", async () => {
  const bench = new Bench();
  bench.refusals.set(server(2), 1);
  bench.refusals.set(server(3), Number.POSITIVE_INFINITY);
  const sync = bench.sync(serviceOf(1), serviceOf(2), serviceOf(3));
  await expect(sync).rejects.toThrow(/^default\/s3: no TCP 10.96.0.3:80, and 1 more changes$/);
  expect(bench.served).toEqual([real(1), real(2)]);
  expect(bench.told.slice(0, 3)).toEqual([
    [server(1), server(2), server(3)],
    [server(2)],
    [server(3)],
  ]);
});

test("one that stays refused holds up no other later, and is told again with each sync until it is made", async () => {
  const bench = new Bench();
  bench.refusals.set(server(1), 5);
  await expect(bench.sync(serviceOf(1))).rejects.toThrow("default/s1");
  const { reads } = bench;
  // Its own changes were tried; those of others go through, and the kernel is not read for it.
  await bench.sync(serviceOf(2));
  await bench.sync(serviceOf(2, "10.244.0.2"));
  expect(bench.served).toEqual([real(2, "10.244.0.2")]);
  expect(bench.reads).toBe(reads);
  expect(bench.controller.refused.map(({ message }) => message)).toEqual([
    "default/s1: no TCP 10.96.0.1:80, and 1 more changes",
  ]);
  await bench.controller.repair();
  expect(bench.served).toEqual([real(1), real(2, "10.244.0.2")]);
  expect(bench.controller.refused).toEqual([]);
});

test("one with a second virtual server for insiders is tried again with both", async () => {
  const bench = new Bench();
  bench.refusals.set("v4 mark 0x40", 1);
  await bench.sync(serviceOf(1, "10.244.0.1", 0x40));
  expect(bench.served).toEqual([real(1), "v4 mark 0x40 10.244.0.1:8080"]);
  expect(bench.controller.refused).toEqual([]);
});

test("what drained when its service was deleted is made anew with the service, without a refusal", async () => {
  const bench = new Bench();
  bench.connections = 1;
  await bench.sync(serviceOf(1));
  await bench.sync(serviceOf(1, "10.244.0.2"));
  expect(bench.kernel.destinations.get(real(1))?.weight).toBe(0);
  bench.controller.replace("default/s1", []);
  await bench.controller.sync(["default/s1"]);
  expect(bench.served).toEqual([]);
  const { reads } = bench;
  await bench.sync(serviceOf(1));
  expect(bench.kernel.destinations.get(real(1))?.weight).toBe(1);
  expect(bench.reads).toBe(reads);
});

test("a service that lost its last endpoint keeps its connections, and has no virtual server after them", async () => {
  const bench = new Bench();
  bench.connections = 1;
  await bench.sync(serviceOf(1));
  await bench.sync(unserved(1));
  expect(bench.kernel.destinations.get(real(1))?.weight).toBe(0);
  await bench.proxier.finishDrains();
  expect(bench.served).toEqual([real(1)]);
  bench.connections = 0;
  await bench.proxier.finishDrains();
  expect([...bench.kernel.servers.keys(), ...bench.served]).toEqual([]);
});

test("one that comes back while it drains is used again, and drains no longer", async () => {
  const bench = new Bench();
  bench.connections = 1;
  await bench.sync(serviceOf(1));
  await bench.sync(serviceOf(1, "10.244.0.2"));
  expect(bench.proxier.counts.draining).toBe(1);
  await bench.sync(serviceOf(1));
  expect(bench.kernel.destinations.get(real(1))?.weight).toBe(1);
  // The other one drains now.
  expect(bench.proxier.counts.draining).toBe(1);
});

test("addresses that another link has are neither bound nor in the set of those that are", async () => {
  const bench = new Bench();
  bench.taken.push("10.96.0.1");
  await bench.sync(serviceOf(1), serviceOf(2));
  expect([...bench.kernel.addresses]).toEqual(["10.96.0.2"]);
  const entries = [...bench.kernel.entries.keys()];
  expect(entries.filter((key) => key.startsWith("KUBE-IPVS-IPS"))).toEqual([
    "KUBE-IPVS-IPS 10.96.0.2",
  ]);
  expect(bench.served).toEqual([real(1), real(2)]);
});

test("an address of the node itself is not bound again", async () => {
  const bench = new Bench();
  const { service, endpoints } = serviceOf(1);
  const entrances = service.entrances.map((one) => ({ ...one, isNodes: true }));
  await bench.sync({ service: { ...service, type: "Listener", entrances }, endpoints });
  expect([...bench.kernel.addresses]).toEqual([]);
  expect(bench.served).toEqual([real(1)]);
});

test("what stands at addresses of others stays, and what else nobody claims goes", async () => {
  const bench = new Bench();
  bench.foreign.push("192.0.2.1");
  for (const ip of ["192.0.2.1", "198.51.100.1"]) {
    const { family, balancing } = serviceOf(1).service;
    const place = { protocol: "TCP", ip, port: 80 } as const;
    bench.kernel.servers.set(serverId({ family, place }), { family, place, ...balancing });
    bench.kernel.addresses.add(ip);
  }
  await bench.sync(serviceOf(1));
  expect([...bench.kernel.servers.keys()]).toEqual(["TCP 192.0.2.1:80", server(1)]);
  expect([...bench.kernel.addresses]).toEqual(["192.0.2.1", "10.96.0.1"]);
});

test("an endpoint comes before the one that it replaces goes", async () => {
  const bench = new Bench();
  await bench.sync(serviceOf(1), serviceOf(2));
  bench.fewest = Number.POSITIVE_INFINITY;
  await bench.sync(serviceOf(1, "10.244.0.2"), serviceOf(2, "10.244.0.2"));
  expect(bench.served).toEqual([real(1, "10.244.0.2"), real(2, "10.244.0.2")]);
  expect(bench.fewest).toBe(2);
});

test("where an answer was lost, the kernel is looked at before it is told anything again", async () => {
  const bench = new Bench();
  bench.losesAnswer = true;
  await expect(bench.sync(serviceOf(1))).rejects.toThrow("the answer was lost");
  const { reads } = bench;
  await bench.sync(serviceOf(1), serviceOf(2));
  expect(bench.served).toEqual([real(1), real(2)]);
  expect(bench.reads).toBe(reads + 1);
  expect(bench.told).toEqual([[server(1)], [server(2)]]);
});

test("one endpoint's change asks and tells the kernel the same, however many services there are", async () => {
  const work = async (services: number): Promise<object> => {
    const bench = new Bench();
    await bench.sync(...Array.from({ length: services }, (_, host) => serviceOf(host)));
    const { reads, asked, changes } = bench;
    await bench.sync(serviceOf(0, "10.244.0.2"));
    return {
      reads: bench.reads - reads,
      asked: bench.asked - asked,
      changes: bench.changes - changes,
    };
  };
  expect(await work(1)).toEqual({ reads: 0, asked: 1, changes: 2 });
  expect(await work(250)).toEqual({ reads: 0, asked: 1, changes: 2 });
});

test("one that changes and is refused again is named once", async () => {
  const bench = new Bench();
  bench.refusals.set(server(1), Number.POSITIVE_INFINITY);
  await expect(bench.sync(serviceOf(1))).rejects.toThrow("default/s1");
  await expect(bench.sync(serviceOf(1, "10.244.0.2"))).rejects.toThrow("default/s1");
  expect(bench.controller.refused).toHaveLength(1);
});

test("what is refused and then no longer asked is forgotten", async () => {
  const bench = new Bench();
  bench.refusals.set(server(1), Number.POSITIVE_INFINITY);
  await expect(bench.sync(serviceOf(1))).rejects.toThrow("default/s1");
  bench.controller.replace("default/s1", []);
  await bench.controller.sync(["default/s1"]);
  expect(bench.controller.refused).toEqual([]);
});

test("what others removed meanwhile is found, and made again at once", async () => {
  const bench = new Bench();
  await bench.sync(serviceOf(1), serviceOf(2));
  bench.kernel.servers.clear();
  bench.kernel.destinations.clear();
  await bench.sync(serviceOf(1, "10.244.0.2"));
  expect(bench.served).toEqual([real(1, "10.244.0.2"), real(2)]);
});

test("many refusals are told in a message of bounded length", () => {
  const errors = Array.from({ length: 9 }, (_, at) => new CoreError("ERR_SYNC_FAILED", `s${at}`));
  expect(joinRefusals(errors).message).toBe("s0; s1; s2; s3; s4; and of 4 more services");
});
