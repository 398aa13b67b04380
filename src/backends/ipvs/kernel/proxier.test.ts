import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import type { IpSetEntry } from "../../../wire/netlink/ipset/ip-set.ts";
import type { VirtualServer } from "../../../wire/netlink/ipvs/virtual-server.ts";
import { setsOf } from "../glue/set-names.ts";
import {
  createFakeKernel,
  createFakePlatform,
  entryTexts,
  type FakeKernel,
} from "./fake-platform.fixture.ts";
import type { IpvsPlatform } from "./platform.ts";
import { Proxier } from "./proxier.ts";

/** A kernel that is only thought of, with a proxier to which 192.0.2.0/24 is of others. */
class Bench {
  readonly kernel: FakeKernel = createFakeKernel();
  /** Connections that every real server has. */
  connections: { readonly active: number; readonly inactive: number } = { active: 0, inactive: 0 };
  isTranslated = true;
  isLimited = false;
  isByAddress = true;
  readonly platform: IpvsPlatform;
  readonly proxier: Proxier;

  constructor() {
    const { ipvs, link, sets } = createFakePlatform(this.kernel);
    const destinations: typeof ipvs.destinations = async (server) =>
      (await ipvs.destinations(server)).map((one) => ({
        ...one,
        isTranslated: this.isTranslated,
        isLimited: this.isLimited,
        activeConnections: this.connections.active,
        inactiveConnections: this.connections.inactive,
      }));
    const servers: typeof ipvs.servers = async () =>
      (await ipvs.servers()).map((one) => ({ ...one, isByAddress: this.isByAddress }));
    this.platform = { sets, ipvs: { ...ipvs, servers, destinations }, link };
    this.proxier = new Proxier({
      family: "v4",
      platform: this.platform,
      sets: setsOf("v4"),
      marksOf: (mark) => [mark],
      isForeign: (ip) => ip.startsWith("192.0.2."),
    });
  }

  /** As another program would. */
  async make(...servers: readonly VirtualServer[]): Promise<void> {
    await this.platform.ipvs.change(servers.map((server) => ({ kind: "newService", server })));
  }

  async settle(): Promise<void> {
    await this.proxier.read();
    expect((await this.proxier.flush()).failures).toEqual([]);
  }

  get weights(): readonly number[] {
    return [...this.kernel.destinations.values()].map(({ weight }) => weight);
  }
}

function serverAt(
  ip: string,
  protocol: "TCP" | "UDP" = "TCP",
  family: "v4" | "v6" = "v4",
): VirtualServer {
  const place = { protocol, ip, port: 80 } as const;
  return { family, place, scheduler: "wrr", flags: 0, persistenceSeconds: 0 };
}

const END = { ip: "10.244.0.1", port: 8080, weight: 1 } as const;

test("virtual servers and addresses of others stay, and those of the other family; what nobody claims goes", async () => {
  const bench = new Bench();
  const mark: VirtualServer = { ...serverAt("10.96.0.1"), place: { mark: 77 } };
  await bench.make(serverAt("192.0.2.1"), serverAt("10.96.0.9"), mark);
  await bench.make(serverAt("fd00:96::9", "TCP", "v6"));
  for (const ip of ["192.0.2.1", "10.96.0.9"]) bench.kernel.addresses.add(ip);
  await bench.settle();
  expect([...bench.kernel.servers.keys()].sort()).toEqual([
    "TCP 192.0.2.1:80",
    "TCP [fd00:96::9]:80",
    "v4 mark 0x4d",
  ]);
  expect([...bench.kernel.addresses]).toEqual(["192.0.2.1"]);
});

test("an address that another link has is not given to ours, and its other ports stay open", async () => {
  const bench = new Bench();
  bench.kernel.otherAddresses.add("198.51.100.7");
  bench.proxier.address("claim", "198.51.100.7");
  bench.proxier.address("claim", "198.51.100.8");
  await bench.settle();
  expect([...bench.kernel.addresses]).toEqual(["198.51.100.8"]);
  expect(entryTexts(bench.kernel)).toEqual(["198.51.100.8"]);
});

test("an address that another link gets later leaves ours, and comes back when that lost it", async () => {
  const bench = new Bench();
  bench.proxier.address("claim", "198.51.100.7");
  await bench.settle();
  expect([...bench.kernel.addresses]).toEqual(["198.51.100.7"]);
  bench.kernel.otherAddresses.add("198.51.100.7");
  await bench.settle();
  expect([...bench.kernel.addresses]).toEqual([]);
  expect(entryTexts(bench.kernel)).toEqual([]);
  await bench.proxier.read();
  expect((await bench.proxier.flush()).changes).toBe(0);
  bench.kernel.otherAddresses.clear();
  await bench.settle();
  expect([...bench.kernel.addresses]).toEqual(["198.51.100.7"]);
  expect(entryTexts(bench.kernel)).toEqual(["198.51.100.7"]);
});

const MARK = 0x2000_0007;
const BY_MARK: VirtualServer = { ...serverAt("10.96.0.1"), place: { mark: MARK } };
const INSIDE: IpSetEntry = { ip: "10.96.0.1", protocol: "TCP", port: 80, mark: MARK };

test("a virtual server by a mark is ours where an entry of ours gives packets that mark", async () => {
  const bench = new Bench();
  const others: VirtualServer = { ...BY_MARK, place: { mark: MARK + 1 } };
  const masqueraded: VirtualServer = { ...BY_MARK, place: { mark: MARK + 0x4000 } };
  await bench.make(BY_MARK, masqueraded, others);
  const set = setsOf("v4").inside;
  await bench.platform.sets.change([{ kind: "add", set, entry: INSIDE }]);
  await bench.settle();
  expect([...bench.kernel.servers.values()]).toEqual([others]);
  expect(entryTexts(bench.kernel)).toEqual([]);
});

test("a virtual server by a mark goes before the entry that says whose it is, and is ours while it is refused", async () => {
  const bench = new Bench();
  const { ipvs } = bench.platform;
  const entriesLeft: number[] = [];
  let isRefused = true;
  const change: typeof ipvs.change = async (changes) => {
    if (changes.some(({ kind }) => kind === "deleteService")) {
      entriesLeft.push(bench.kernel.entries.size);
      const error = new CoreError("ERR_SYSTEM_CALL", "not now");
      if (isRefused) return changes.map((_, index) => ({ index, errno: 16, error }));
    }
    return ipvs.change(changes);
  };
  const proxier = new Proxier({
    family: "v4",
    platform: { ...bench.platform, ipvs: { ...ipvs, change } },
    sets: setsOf("v4"),
    marksOf: (mark) => [mark],
    isForeign: () => false,
  });
  proxier.server("claim", BY_MARK);
  proxier.entry("claim", "inside", INSIDE);
  await proxier.flush();
  proxier.server("release", BY_MARK);
  proxier.entry("release", "inside", INSIDE);
  await proxier.flush();
  expect(entriesLeft).toEqual([1]);
  isRefused = false;
  await proxier.read();
  await proxier.flush();
  expect(bench.kernel.servers.size).toBe(0);
});

test("rules are written once all is there but the addresses, which let calls in", async () => {
  const bench = new Bench();
  bench.proxier.server("claim", serverAt("10.96.0.1"));
  bench.proxier.address("claim", "10.96.0.1");
  const seen: unknown[] = [];
  const beforeAddresses = async (): Promise<void> => {
    const { servers, entries, addresses } = bench.kernel;
    seen.push([servers.size, entries.size, addresses.size]);
  };
  await bench.proxier.flush({ beforeAddresses });
  expect(seen).toEqual([[1, 1, 0]]);
  expect(bench.kernel.addresses.size).toBe(1);
});

test.each([
  ["TCP", { active: 1, inactive: 0 }, [0]],
  ["TCP", { active: 0, inactive: 1 }, [0]],
  ["TCP", { active: 0, inactive: 0 }, []],
  ["UDP", { active: 1, inactive: 1 }, []],
] as const)(
  "a real server of %s that goes with connections %o rests with weights %j",
  async (protocol, connections, weights) => {
    const bench = new Bench();
    const server = serverAt("10.96.0.1", protocol);
    bench.proxier.server("claim", server);
    bench.proxier.destination("claim", server, END);
    await bench.settle();
    bench.connections = connections;
    bench.proxier.destination("release", server, END);
    await bench.proxier.flush();
    expect(bench.weights).toEqual(weights);
    bench.connections = { active: 0, inactive: 0 };
    await bench.proxier.finishDrains();
    expect(bench.weights).toEqual([]);
    expect(bench.proxier.counts.draining).toBe(0);
  },
);

test("a real server that others removed while it drained drains no longer", async () => {
  const bench = new Bench();
  const server = serverAt("10.96.0.1");
  bench.proxier.server("claim", server);
  bench.proxier.destination("claim", server, END);
  await bench.settle();
  bench.connections = { active: 1, inactive: 0 };
  bench.proxier.destination("release", server, END);
  await bench.proxier.flush();
  expect(bench.proxier.counts.draining).toBe(1);
  bench.kernel.destinations.clear();
  await bench.proxier.read();
  expect(bench.proxier.counts.draining).toBe(0);
});

test("a virtual server that lingers goes with its last connection, and not as if others had made it", async () => {
  const bench = new Bench();
  const server = serverAt("10.96.0.1");
  bench.proxier.server("claim", server);
  bench.proxier.destination("claim", server, END);
  await bench.settle();
  bench.connections = { active: 1, inactive: 0 };
  bench.proxier.destination("release", server, END);
  bench.proxier.server("release", server);
  bench.proxier.lingering("claim", server);
  await bench.proxier.flush();
  expect(bench.weights).toEqual([0]);
  bench.connections = { active: 0, inactive: 0 };
  await bench.proxier.finishDrains();
  expect(bench.kernel.servers.size).toBe(0);
  await bench.proxier.read();
  expect((await bench.proxier.flush()).changes).toBe(0);
});

test("a real server that does not translate addresses is made anew as one that does", async () => {
  const bench = new Bench();
  const server = serverAt("10.96.0.1");
  bench.proxier.server("claim", server);
  bench.proxier.destination("claim", server, END);
  await bench.settle();
  bench.isTranslated = false;
  await bench.proxier.read();
  expect((await bench.proxier.flush()).changes).toBe(1);
});

test("limits of connections and affinity of whole networks are put right", async () => {
  const bench = new Bench();
  const server = { ...serverAt("10.96.0.1"), flags: 1, persistenceSeconds: 300 };
  bench.proxier.server("claim", server);
  bench.proxier.destination("claim", server, END);
  await bench.settle();
  await bench.proxier.read();
  expect((await bench.proxier.flush()).changes).toBe(0);
  bench.isLimited = true;
  await bench.proxier.read();
  expect((await bench.proxier.flush()).changes).toBe(1);
  bench.isLimited = false;
  bench.isByAddress = false;
  await bench.proxier.read();
  expect((await bench.proxier.flush()).changes).toBe(1);
});

test("an entry of a set that goes is told as it is there", async () => {
  const bench = new Bench();
  const entry: IpSetEntry = { ip: "10.96.0.1", protocol: "TCP", port: 80 };
  bench.proxier.entry("claim", "clusterIp", entry);
  await bench.proxier.flush();
  expect([...bench.kernel.entries.keys()]).toEqual(["KUBE-CLUSTER-IP 10.96.0.1,tcp:80"]);
  bench.proxier.entry("release", "clusterIp", entry);
  await bench.proxier.flush();
  expect(bench.kernel.entries.size).toBe(0);
});
