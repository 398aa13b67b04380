import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import type { Family } from "../../core/model/address.ts";
import type { Protocol } from "../../core/model/common.ts";
import type { IpSetEntry } from "../../wire/netlink/ipset/ip-set.ts";
import {
  serverId,
  type VirtualServer,
  type VirtualServerState,
} from "../../wire/netlink/ipvs/virtual-server.ts";
import { KUBE_PROXY_SETS } from "./kube-proxy-sets.ts";
import { type KubeProxyTraces, removeKubeProxyServers } from "./remove-kube-proxy-servers.ts";

const STATISTICS = { connections: 0, packetsIn: 0, packetsOut: 0, bytesIn: 0, bytesOut: 0 };

function serverAt(place: VirtualServer["place"], family: Family = "v4"): VirtualServerState {
  const balancing = { scheduler: "rr", flags: 0, persistenceSeconds: 0 };
  return { family, place, ...balancing, isByAddress: true, statistics: STATISTICS };
}

function at(ip: string, port: number, protocol: Protocol = "TCP"): VirtualServerState {
  return serverAt({ ip, port, protocol }, ip.includes(":") ? "v6" : "v4");
}

interface Left {
  readonly servers: readonly VirtualServerState[];
  readonly entries: ReadonlyMap<string, readonly IpSetEntry[]>;
  /** Undefined: there is no link. */
  readonly addresses: readonly string[] | undefined;
}

/** A machine with two addresses of its own; it writes down what goes. */
function machine(left: Left): { traces: KubeProxyTraces; gone: string[] } {
  const gone: string[] = [];
  const isOf = (family: Family) => (ip: string) => ip.includes(":") === (family === "v6");
  const traces: KubeProxyTraces = {
    link: {
      exists: async () => left.addresses !== undefined,
      addresses: async (family) => ({
        own: (left.addresses ?? []).filter(isOf(family)),
        others: ["192.168.100.1", "fd00::1"].filter(isOf(family)),
      }),
      remove: async () => void gone.push("link"),
    },
    sets: {
      entries: async (name) => left.entries.get(name),
      change: async (changes) => {
        for (const { kind, set } of changes) gone.push(`${kind} ${set.name}`);
        return [];
      },
    },
    openIpvs: async () => ({
      servers: async () => left.servers,
      change: async (changes) => {
        for (const change of changes) {
          if (change.kind === "deleteService") gone.push(serverId(change.server));
        }
        return [];
      },
      close: () => undefined,
    }),
  };
  return { traces, gone };
}

test("virtual servers of its addresses and node ports go, then the link and the sets; others stay", async () => {
  const { traces, gone } = machine({
    servers: [
      at("10.96.0.1", 443),
      at("fd00:96::1", 443),
      at("192.168.100.1", 30_080),
      at("192.168.100.1", 30_080, "UDP"),
      at("192.168.100.1", 30_081, "SCTP"),
      at("192.168.100.1", 8080),
      at("198.51.100.7", 30_080),
      serverAt({ mark: 77 }),
    ],
    entries: new Map([
      ["KUBE-CLUSTER-IP", [{ ip: "10.96.0.1", protocol: "TCP", port: 443 }]],
      ["KUBE-NODE-PORT-TCP", [{ port: 30_080 }]],
      ["KUBE-NODE-PORT-LOCAL-SCTP-HASH", [{ ip: "192.168.100.1", protocol: "SCTP", port: 30_081 }]],
      ["KUBE-MINE", []],
    ]),
    addresses: ["10.96.0.1", "fd00:96::1"],
  });
  await removeKubeProxyServers(traces);
  expect(gone).toEqual([
    serverId(at("10.96.0.1", 443)),
    serverId(at("fd00:96::1", 443)),
    serverId(at("192.168.100.1", 30_080)),
    serverId(at("192.168.100.1", 30_081, "SCTP")),
    "link",
    "destroy KUBE-CLUSTER-IP",
    "destroy KUBE-NODE-PORT-TCP",
    "destroy KUBE-NODE-PORT-LOCAL-SCTP-HASH",
  ]);
});

test("where there is nothing of it, the kernel is not asked for IPVS", async () => {
  const { traces, gone } = machine({ servers: [], entries: new Map(), addresses: undefined });
  const openIpvs = () => Promise.reject(new Error("it would be loaded"));
  await removeKubeProxyServers({ ...traces, openIpvs });
  expect(gone).toEqual([]);
});

test("what is refused is told, and what is gone already is not", async () => {
  const { traces } = machine({
    servers: [],
    entries: new Map([
      ["KUBE-CLUSTER-IP", []],
      ["KUBE-LOOP-BACK", []],
    ]),
    addresses: [],
  });
  const refuse = (errno: number, message: string) => ({
    index: 0,
    errno,
    error: new CoreError("ERR_SYSTEM_CALL", message),
  });
  const sets = {
    ...traces.sets,
    change: async () => [refuse(2, "is gone"), refuse(16, "is in use")],
  };
  await expect(removeKubeProxyServers({ ...traces, sets })).rejects.toMatchObject({
    code: "ERR_SYSTEM_CALL",
    message: "is in use",
  });
});

test("names are kube-proxy's, and no longer than the kernel takes", () => {
  const names = KUBE_PROXY_SETS.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(names).toContain("KUBE-6-NODE-PORT-LOCAL-SCTP-HAS");
});
