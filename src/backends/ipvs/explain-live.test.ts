import { expect, test } from "vitest";
import type { Packet } from "../../core/route/packet.ts";
import type { Verdict } from "../../core/route/verdict.ts";
import type { IpSetEntry } from "../../wire/netlink/ipset/ip-set.ts";
import type { Destination, VirtualServer } from "../../wire/netlink/ipvs/virtual-server.ts";
import { explainIpvs } from "./explain-live.ts";
import { createFakePlatform } from "./kernel/fake-platform.fixture.ts";

const PACKET: Packet = {
  from: "outside",
  src: "192.168.200.10",
  srcPort: 40_000,
  dst: "203.0.113.20",
  dstPort: 80,
  protocol: "TCP",
};
const MARK = 0x2000_0001;
const SETTINGS = { family: "v4", scheduler: "wrr", flags: 0, persistenceSeconds: 0 } as const;
const STATISTICS = { connections: 7, packetsIn: 0, packetsOut: 0, bytesIn: 0, bytesOut: 0 };
const COUNTS = { isTranslated: true, activeConnections: 1, inactiveConnections: 2 };
const BY_ADDRESS: VirtualServer = {
  ...SETTINGS,
  place: { protocol: "TCP", ip: PACKET.dst, port: 80 },
};
const BY_MARK: VirtualServer = { ...SETTINGS, place: { mark: MARK } };
const LOCAL: Destination = { ip: "10.244.1.12", port: 8080, weight: 1 };
const REMOTE: Destination = { ip: "10.244.2.12", port: 8080, weight: 3 };
const CALL: IpSetEntry = { ip: PACKET.dst, protocol: "TCP", port: 80 };

function platform(): Parameters<typeof explainIpvs>[1] {
  const kernel = {
    servers: new Map(),
    destinations: new Map(),
    entries: new Map(),
    addresses: new Set<string>(),
  };
  const fake = createFakePlatform(kernel);
  return {
    ipvs: {
      ...fake.ipvs,
      servers: async () =>
        [BY_ADDRESS, BY_MARK].map((server) => ({ ...server, statistics: STATISTICS })),
      destinations: async ({ place }) =>
        ("mark" in place ? [LOCAL, REMOTE] : [LOCAL]).map((one) => ({
          ...one,
          ...COUNTS,
          statistics: STATISTICS,
        })),
    },
    sets: {
      ...fake.sets,
      entries: async (name) => {
        if (name === "KUBE-LOAD-BALANCER-LOCAL") return [CALL];
        return name === "KUBE-IPVS-INSIDE" ? [{ ...CALL, mark: MARK }] : [];
      },
    },
  };
}

const NOT_OURS: Verdict = { kind: "not-ours", reasons: [], others: [] };

test("sets, virtual and real servers are told, and for whom they are", async () => {
  const { lines } = await explainIpvs(PACKET, platform());
  expect(lines).toEqual([
    "203.0.113.20:80 is in KUBE-LOAD-BALANCER-LOCAL, KUBE-IPVS-INSIDE",
    "virtual server TCP 203.0.113.20:80, wrr, 7 connections so far",
    "  to 10.244.1.12:8080 with weight 1, 1 active and 2 other connections",
    "virtual server v4 mark 0x20000001, wrr, 7 connections so far (for others than this packet)",
    "  to 10.244.1.12:8080 with weight 1, 1 active and 2 other connections",
    "  to 10.244.2.12:8080 with weight 3, 1 active and 2 other connections",
  ]);
});

test("endpoints that the reference does not choose are told, with both shares", async () => {
  const outside = await explainIpvs(PACKET, platform());
  expect(outside.differencesFrom(NOT_OURS)).toEqual([
    "10.244.1.12:8080: 100 %, where the reference says 0 %",
  ]);
  const node = await explainIpvs({ ...PACKET, from: "node" }, platform());
  expect(node.differencesFrom(NOT_OURS)).toEqual([
    "10.244.1.12:8080: 25 %, where the reference says 0 %",
    "10.244.2.12:8080: 75 %, where the reference says 0 %",
  ]);
});
