import { expect, test } from "vitest";
import type { Cidr } from "../../core/model/address.ts";
import type { Flow } from "../../wire/netlink/conntrack/flow.ts";
import { parseSubnet } from "../addresses/subnet.ts";
import type { PublishedPort } from "./edge-network.ts";
import { changedPorts, isStale } from "./stale-flows.ts";

function cidr(text: string): Cidr {
  const parsed = parseSubnet(text);
  if (parsed === undefined) throw new Error(`${text} is no network`);
  return parsed;
}

const published = (hostPort: number, v4: string, protocol: "udp" | "tcp" = "udp") =>
  ({ protocol, hostPort, port: 53, addresses: { v4, v6: "fc00::102" } }) satisfies PublishedPort;

const TRUTH = {
  subnets: { v4: cidr("10.18.0.64"), v6: cidr("fc00::100") },
  ports: [published(5353, "10.18.0.66")],
  ownAddresses: new Set(["192.0.2.1", "10.18.0.65"]),
};

function flow(dst: string, dstPort: number, answeredBy: string): Flow {
  return {
    protocol: "UDP",
    original: { src: "192.0.2.2", srcPort: 40_000, dst, dstPort },
    reply: { src: answeredBy, srcPort: 53, dst: "192.0.2.2", dstPort: 40_000 },
    id: 1,
    isDestinationNat: dst !== answeredBy,
    mark: 0,
  };
}

test.each([
  ["leads where the port leads", flow("192.0.2.1", 5353, "10.18.0.66"), false],
  ["leads to a workload that went", flow("192.0.2.1", 5353, "10.18.0.67"), true],
  ["is of a port that is no longer published", flow("192.0.2.1", 5354, "10.18.0.66"), true],
  ["came before the port was published", flow("192.0.2.1", 5353, "192.0.2.1"), true],
  ["is of the machine itself", flow("192.0.2.1", 53, "192.0.2.1"), false],
  ["passes by, to that port of somebody else", flow("198.51.100.1", 5353, "198.51.100.1"), false],
  ["others lead elsewhere", flow("192.0.2.1", 5353, "172.17.0.2"), false],
])("a flow that %s is judged rightly", (_, tracked, expected) => {
  expect(isStale(tracked, TRUTH)).toBe(expected);
});

test("only ports that lead elsewhere than before are looked at", () => {
  const before = [
    published(1, "10.18.0.66"),
    published(2, "10.18.0.66"),
    published(3, "10.18.0.66"),
  ];
  const after = [
    published(1, "10.18.0.66"),
    published(2, "10.18.0.67"),
    published(4, "10.18.0.66"),
  ];
  const tcp = [published(5, "10.18.0.66", "tcp")];
  expect(changedPorts(before, [...after, ...tcp])).toEqual([2, 3, 4]);
});
