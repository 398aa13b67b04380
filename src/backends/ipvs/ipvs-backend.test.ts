import { PassThrough } from "node:stream";
import { expect, test } from "vitest";
import * as z from "zod";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { listenerSchema } from "../../core/model/listener.ts";
import { nodeSchema } from "../../core/model/node.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { securityGroupSchema } from "../../core/model/security-group.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { flagLayer, resolveOptions } from "../../core/options/resolve-options.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { serverId, type VirtualServer } from "../../wire/netlink/ipvs/virtual-server.ts";
import type { Backend } from "../backend.ts";
import { createIpvsBackend } from "./create-ipvs-backend.ts";
import { IPVS } from "./definition.ts";
import {
  createFakeKernel,
  createFakePlatform,
  entryTexts,
  type FakeKernel,
} from "./kernel/fake-platform.fixture.ts";
import type { IpvsPlatform } from "./kernel/platform.ts";
import type { IpvsWorld } from "./world.ts";

const NODE = "node-a";
const silent = (): void => undefined;

/** A backend on a kernel that is only thought of. */
class Machine {
  readonly kernel: FakeKernel = createFakeKernel();
  readonly warnings: string[] = [];
  /** What stands in the status after each look or sync; empty where all is well. */
  readonly repairs: string[] = [];
  /** How often it was told that the kernel is looked at. */
  looks = 0;
  look: () => Promise<void> = async () => undefined;
  readonly #freed: string[] = [];
  readonly #store = new GlobalStore();
  readonly #watcher = new NodeWatcher(this.#store, NODE, IPVS.sets);

  readonly #flags: Readonly<Record<string, string | string[]>>;

  constructor(flags: Readonly<Record<string, string | string[]>> = {}) {
    this.#flags = { iptablesMode: "legacy", ...flags };
  }

  get freed(): readonly string[] {
    return this.#freed;
  }

  open(world: Partial<IpvsWorld> = {}, isForCleanup = false): Promise<Backend> {
    const { values } = resolveOptions(IPVS.options, [flagLayer(this.#flags)]);
    if (values === undefined) throw new Error("the options are not valid");
    const log: Log = {
      debug: silent,
      info: silent,
      warn: (fields, message) => {
        const { data } = z.object({ family: z.string(), changes: z.number() }).safeParse(fields);
        const more = data === undefined ? "" : `: ${data.changes} of ${data.family}`;
        this.warnings.push(`${message}${more}`);
      },
      error: (fields, message) => void this.warnings.push(`${message} ${JSON.stringify(fields)}`),
    };
    const onRepair = (error: unknown): void =>
      void this.repairs.push(error === undefined ? "" : messageOf(error));
    const onRepairing = (): void => {
      this.looks += 1;
    };
    const told = { onRepair, onRepairing };
    const context = { nodeName: NODE, log, stdout: new PassThrough(), ...told, isForCleanup };
    return createIpvsBackend(values, context, { ...this.#world(), ...world });
  }

  async apply({ sink }: Backend, ...objects: readonly ModelObject[]): Promise<void> {
    const node = nodeSchema.parse({ kind: "Node", name: NODE, addresses: ["192.168.100.1"] });
    this.#store.transact("test", (transaction) => transaction.replaceAll([node, ...objects]));
    this.#store.markSynced("test");
    for (const op of this.#watcher.poll() ?? []) {
      if (op.op === "reset") sink.reset();
      else await sink.send(op);
    }
  }

  #world(): IpvsWorld {
    return {
      // Rules are never there: each look writes them anew.
      exec: { run: async () => ({ exitCode: 0, stdout: "", stderr: "" }) },
      sysctl: { read: async () => "1", ensure: async () => false },
      modules: {
        ensure: async () => ({ loaded: [], missing: [] }),
        notLoaded: () => [],
        absent: () => [],
      },
      clock: {
        nowMs: () => 0,
        sleep: async () => undefined,
        every: (_, act) => {
          this.look = act;
          return silent;
        },
      },
      findKubeProxy: async () => undefined,
      openConntrack: () => ({ reconcile: async () => ({ removed: 0, looked: 0 }), close: silent }),
      openPlatform: async () => createFakePlatform(this.kernel),
      openLeftovers: async () => createFakePlatform(this.kernel),
      takeLock: () => ({ release: () => void this.#freed.push("lock") }),
      isIptablesRunning: () => false,
    };
  }
}

const WEB = serviceSchema.parse({
  kind: "Service",
  name: "web",
  clusterIPs: ["10.96.0.10", "fd00:96::10"],
  ports: [{ name: "main", port: 80, targetPort: 8080 }],
});
const END = endpointSchema.parse({
  kind: "Endpoint",
  name: "a",
  group: "web",
  node: "node-b",
  addresses: ["10.244.1.2", "fd00:244::2"],
});

/** The value of a metric, by family where it has one. */
function metric(backend: Backend, name: string): Readonly<Record<string, number>> {
  const family = backend.metrics?.().find((one) => one.name === name);
  return Object.fromEntries(
    (family?.samples ?? []).map(({ labels, value }) => [labels["family"] ?? "", value]),
  );
}

test("metrics tell what was done and what stands in the kernel", async () => {
  const machine = new Machine();
  const backend = await machine.open();
  await machine.apply(backend, WEB, END);
  expect(metric(backend, "ipvs_syncs_total")).toEqual({ v4: 1, v6: 1 });
  expect(metric(backend, "ipvs_patch_groups_total")).toEqual({ "": 2 });
  expect(metric(backend, "ipvs_virtual_servers")).toEqual({ v4: 1, v6: 1 });
  expect(metric(backend, "ipvs_real_servers")).toEqual({ v4: 1, v6: 1 });
  expect(metric(backend, "ipvs_draining_servers")).toEqual({ v4: 0, v6: 0 });
  // In each family a virtual server, a real one, two entries of sets and an address.
  expect(metric(backend, "ipvs_changes_total")).toEqual({ "": 10 });
  expect(backend.status().summary).toBe("2 virtual servers, 2 real ones");
  await machine.apply(backend);
  expect(metric(backend, "ipvs_virtual_servers")).toEqual({ v4: 0, v6: 0 });
});

test("what the kernel counts is asked for when metrics are, and what can not be read is told", async () => {
  const machine = new Machine();
  const statistics = { connections: 3, packetsIn: 9, packetsOut: 6, bytesIn: 900, bytesOut: 600 };
  let isBroken = false;
  const openPlatform = async (): Promise<IpvsPlatform> => {
    const { ipvs, ...fake } = createFakePlatform(machine.kernel);
    const servers = async () => {
      if (isBroken) throw new CoreError("ERR_SYSTEM_CALL", "it was lost");
      return (await ipvs.servers()).map((server) => ({ ...server, statistics }));
    };
    return { ...fake, ipvs: { ...ipvs, servers } };
  };
  const backend = await machine.open({ openPlatform });
  await backend.measure?.();
  await machine.apply(backend, WEB, END);
  await backend.measure?.();
  isBroken = true;
  await backend.measure?.();
  const family = backend.metrics?.().find(({ name }) => name === "ipvs_service_bytes_in_total");
  // Of both families.
  expect(family?.samples).toEqual([{ labels: { service: "default/web" }, value: 1800 }]);
  expect(machine.warnings).toEqual(["what IPVS counted could not be read"]);
});

test("a listener is for those whom its security group lets in, also when the group changes", async () => {
  const machine = new Machine();
  const backend = await machine.open({
    openPlatform: async () => createFakePlatform(machine.kernel),
  });
  const listener = listenerSchema.parse({
    kind: "Listener",
    name: "front",
    address: "198.51.100.7",
    port: 8000,
    service: "default/web",
    securityGroup: "default/guard",
  });
  const rule = (name: string, network: string, access: string) => ({ name, network, access });
  const guard = (defaultAccess: string, ...rules: readonly object[]) =>
    securityGroupSchema.parse({ kind: "SecurityGroup", name: "guard", defaultAccess, rules });
  const to = "198.51.100.7,tcp:8000";
  const guarding = (): readonly string[] =>
    entryTexts(machine.kernel)
      .filter((entry) => entry.startsWith(`${to},`))
      .sort();
  const [office, printer] = [
    rule("office", "192.0.2.0/24", "allow"),
    rule("printer", "192.0.2.9/32", "deny"),
  ];
  // Of two rules for one network the first decides.
  const again = rule("again", "192.0.2.9/32", "allow");
  await machine.apply(backend, WEB, END, listener, guard("deny", office, printer, again));
  expect(guarding()).toEqual([`${to},192.0.2.0/24`, `${to},192.0.2.9 nomatch`]);
  await machine.apply(backend, WEB, END, listener, guard("allow", printer));
  expect(guarding()).toEqual([`${to},0.0.0.0/1`, `${to},128.0.0.0/1`, `${to},192.0.2.9 nomatch`]);
});

test("what others altered is put right, told and counted", async () => {
  const machine = new Machine();
  const backend = await machine.open();
  await machine.apply(backend, WEB, END);
  const before = structuredClone(machine.kernel);
  await machine.look();
  expect(machine.warnings).toEqual([told("v4", 0), told("v6", 0)]);
  const { servers, destinations, addresses } = machine.kernel;
  for (const key of servers.keys()) if (key.includes("10.96.0.10")) servers.delete(key);
  for (const key of destinations.keys()) if (key.includes("10.96.0.10")) destinations.delete(key);
  addresses.delete("fd00:96::10");
  await machine.look();
  expect(sorted(machine.kernel)).toEqual(sorted(before));
  expect(machine.warnings.slice(2)).toEqual([told("v4", 2), told("v6", 1)]);
  expect(metric(backend, "ipvs_repairs_total")).toEqual({ "": 4 });
});

test("a family that can not be put right does not hold up the other", async () => {
  const machine = new Machine();
  let isRefused = false;
  const run = async (program: string) => {
    if (isRefused && program.startsWith("iptables")) throw new Error("rules of IPv4");
    return { exitCode: 0, stdout: "", stderr: "" };
  };
  const backend = await machine.open({ exec: { run } });
  await machine.apply(backend, WEB, END);
  isRefused = true;
  machine.kernel.addresses.clear();
  await machine.look();
  expect([...machine.kernel.addresses].sort()).toEqual(["10.96.0.10", "fd00:96::10"]);
  expect(machine.warnings.slice(0, 2)).toEqual([told("v4", 1), told("v6", 1)]);
  expect(machine.repairs.at(-1)).toBe("rules of IPv4");
});

test("a set that can not be made holds up nothing else of a look", async () => {
  const machine = new Machine();
  let isTaken = false;
  const openPlatform = async (): Promise<IpvsPlatform> => {
    const { sets, ...fake } = createFakePlatform(machine.kernel);
    const change: typeof sets.change = async (changes) => {
      const at = changes.findIndex(({ kind, set }) => kind === "create" && set.name.endsWith("FW"));
      const refused = await sets.change(changes);
      const error = new CoreError("ERR_SYSTEM_CALL", "it is there");
      return isTaken && at >= 0 ? [{ index: at, errno: 17, error }] : refused;
    };
    return { ...fake, sets: { ...sets, change } };
  };
  const backend = await machine.open({ openPlatform });
  await machine.apply(backend, WEB, END);
  isTaken = true;
  machine.kernel.addresses.clear();
  machine.kernel.servers.clear();
  machine.kernel.destinations.clear();
  await machine.look();
  expect([...machine.kernel.addresses].sort()).toEqual(["10.96.0.10", "fd00:96::10"]);
  expect(machine.kernel.destinations.size).toBe(2);
  expect(machine.repairs.at(-1)).toContain("ipset destroy KUBE-LOAD-BALANCER-FW");
});

test("where the first rules could not be written, no look adds addresses before they are", async () => {
  const machine = new Machine();
  let isRefused = true;
  const run = async (program: string) => {
    if (isRefused && program.endsWith("-restore")) throw new Error("another has the lock");
    return { exitCode: 0, stdout: "", stderr: "" };
  };
  const backend = await machine.open({ exec: { run } });
  await expect(machine.apply(backend, WEB, END)).rejects.toThrow("another has the lock");
  await machine.look();
  expect(machine.repairs.at(-1)).toContain("another has the lock");
  expect([...machine.kernel.addresses]).toEqual([]);
  isRefused = false;
  await machine.look();
  expect([...machine.kernel.addresses].sort()).toEqual(["10.96.0.10", "fd00:96::10"]);
  expect(machine.repairs.at(-1)).toBe("");
});

test("an address in an excluded network is not served, and that is told", async () => {
  const machine = new Machine({ ipvsExcludeCidrs: ["192.0.2.0/24", "192.168.100.1"] });
  const theirs: VirtualServer = {
    ...{ family: "v4", scheduler: "rr", flags: 0, persistenceSeconds: 0 },
    place: { protocol: "TCP", ip: "192.0.2.99", port: 80 },
  };
  machine.kernel.servers.set(serverId(theirs), theirs);
  const backend = await machine.open();
  const ports = [{ name: "main", port: 80, targetPort: 8080, nodePort: 30_080 }];
  const externalIPs = ["192.0.2.99", "198.51.100.7"];
  const service = serviceSchema.parse({ ...WEB, type: "NodePort", externalIPs, ports });
  const listener = { kind: "Listener", service: "default/web", address: "192.0.2.9", port: 81 };
  const front = listenerSchema.parse({ ...listener, name: "front" });
  await machine.apply(backend, service, END, front);
  expect([...machine.kernel.servers.keys()].sort()).toEqual([
    "TCP 10.96.0.10:80",
    "TCP 192.0.2.99:80",
    "TCP 198.51.100.7:80",
    "TCP [fd00:96::10]:80",
  ]);
  expect(machine.kernel.servers.get(serverId(theirs))).toEqual(theirs);
  expect([...machine.kernel.destinations.keys()].filter((key) => key.includes("192.0"))).toEqual(
    [],
  );
  expect([...machine.kernel.addresses].sort()).toEqual([
    "10.96.0.10",
    "198.51.100.7",
    "fd00:96::10",
  ]);
  expect(backend.status().notHonoured).toEqual([
    "192.0.2.99 is in --ipvs-exclude-cidrs, and so left to others: it is not served: default/web",
    "192.168.100.1 is in --ipvs-exclude-cidrs: node ports are not served there: default/web",
    "192.0.2.9 is in --ipvs-exclude-cidrs: default/front is not served: default/web",
  ]);
});

test("clean-up needs no IPVS", async () => {
  const machine = new Machine();
  const error = new CoreError("ERR_NOT_POSSIBLE_HERE", "this kernel has no IPVS");
  machine.kernel.addresses.add("10.96.0.10");
  const openPlatform = () => Promise.reject(error);
  const exec = { run: () => Promise.reject(new CoreError("ERR_NOT_POSSIBLE_HERE", "no iptables")) };
  const backend = await machine.open({ openPlatform, exec }, true);
  await backend.cleanup();
  expect([...machine.kernel.addresses]).toEqual([]);
});

test("what the kernel refuses of a service stays in the status, without holding up others", async () => {
  const machine = new Machine();
  const isRefused = { value: true };
  const openPlatform = async (): Promise<IpvsPlatform> => {
    const { link, ...fake } = createFakePlatform(machine.kernel);
    const change: typeof link.change = async (changes) => {
      const at = changes.findIndex(({ ip }) => isRefused.value && ip === "10.96.0.66");
      await link.change(changes.filter((_, index) => index !== at));
      const error = new CoreError("ERR_SYSTEM_CALL", "no such address");
      return at < 0 ? [] : [{ index: at, errno: 99, error }];
    };
    return { ...fake, link: { ...link, change } };
  };
  const backend = await machine.open({ openPlatform });
  const bad = serviceSchema.parse({ ...WEB, name: "bad", clusterIPs: ["10.96.0.66"] });
  await expect(machine.apply(backend, bad)).rejects.toThrow("default/bad: no such address");
  await machine.apply(backend, bad, WEB, END);
  expect(machine.kernel.addresses.has("10.96.0.10")).toBe(true);
  expect(machine.repairs.at(-1)).toBe("default/bad: no such address");
  isRefused.value = false;
  await machine.look();
  expect(machine.kernel.addresses.has("10.96.0.66")).toBe(true);
  expect(machine.repairs.at(-1)).toBe("");
});

function told(family: string, changes: number): string {
  return `what others altered in the kernel was put right: ${changes} of ${family}`;
}

function sorted({ servers, destinations, addresses }: FakeKernel): readonly unknown[] {
  return [[...servers].sort(), [...destinations].sort(), [...addresses].sort()];
}

test("where the kernel has no IPVS it is refused, and the place is free for another", async () => {
  const machine = new Machine();
  const error = new CoreError("ERR_NOT_POSSIBLE_HERE", "this kernel has no IPVS");
  await expect(machine.open({ openPlatform: () => Promise.reject(error) })).rejects.toBe(error);
  expect(machine.freed).toEqual(["lock"]);
});

test("a kube-proxy that runs is refused before the kernel is asked", async () => {
  const machine = new Machine();
  const openPlatform = () => Promise.reject(new Error("it was asked"));
  const findKubeProxy = async () => "pid 7";
  await expect(machine.open({ openPlatform, findKubeProxy })).rejects.toThrow("pid 7");
});

test("flows that could not be looked at are looked at after the next check, and not again", async () => {
  const machine = new Machine();
  const asked: string[][] = [];
  const backend = await machine.open({
    openConntrack: () => ({
      reconcile: async (_, changed) => {
        asked.push([...changed]);
        if (asked.length === 1) throw new CoreError("ERR_SYSTEM_CALL", "no flows");
        return { looked: 1, removed: 1 };
      },
      close: silent,
    }),
  });
  await machine.look();
  await machine.apply(backend, WEB, END);
  for (let time = 0; time < 3; time += 1) await machine.look();
  expect(asked).toEqual([["default/web"], ["default/web"]]);
  expect(machine.looks).toBe(4);
  await backend.cleanup?.();
});

test("with a service, the listeners are told through which its flows come", async () => {
  const machine = new Machine();
  const told: string[] = [];
  const backend = await machine.open({
    openConntrack: () => ({
      reconcile: async (services, changed) => {
        for (const key of changed) {
          const listeners = services.listenersOf?.(key) ?? [];
          told.push([key, ...listeners.map(({ name }) => name)].join(" "));
        }
        return { looked: 0, removed: 0 };
      },
      close: silent,
    }),
  });
  const front = { kind: "Listener", service: "default/web", address: "192.168.100.1", port: 5353 };
  const listeners = [
    listenerSchema.parse({ ...front, name: "front", mode: "udp" }),
    listenerSchema.parse({ ...front, name: "read", mode: "http", port: 8080 }),
    listenerSchema.parse({ ...front, name: "elsewhere", mode: "udp", node: "node-b", port: 54 }),
  ];
  await machine.apply(backend, WEB, ...listeners);
  await machine.apply(backend, WEB);
  await machine.apply(backend, WEB);
  expect(told).toEqual(["default/web front", "default/web"]);
});
