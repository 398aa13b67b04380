import { expect, test } from "vitest";
import { type Cidr, FAMILIES, parseCidr } from "../../../core/model/address.ts";
import type { ClusterInstance } from "../../../wire/mqtt-edge/cluster-messages.ts";
import { viewOfCluster } from "./cluster-view.ts";

const cidrs = (...texts: string[]): readonly Cidr[] =>
  texts.flatMap((text) => parseCidr(text) ?? []);
const OWN = {
  ...{ node: "here", ip: "192.0.2.1", port: 50_103 },
  ...{ subnets: cidrs("10.18.0.64/26"), serviceRanges: cidrs("10.30.0.0/16") },
  families: FAMILIES,
};

function instance(number: number, nsip: string, host: string, own: string): ClusterInstance {
  return {
    ...{ number, addresses: [nsip], host: { ip: host, port: 50_103 } },
    serviceIps: [
      { policy: "round-robin", address: "10.30.0.1" },
      { policy: "instance", address: own },
    ],
  };
}

test("nodes are where their tunnels are, and what is here is ours", () => {
  const instances = [
    instance(0, "10.18.0.66", "192.0.2.1", "10.30.0.2"),
    instance(1, "10.18.0.130", "192.0.2.2", "10.30.0.3"),
    instance(2, "10.18.0.131", "192.0.2.2", "10.40.0.4"),
    // Of an earlier time: the node had another address, or other networks.
    instance(3, "10.18.0.67", "192.0.2.99", "10.30.0.5"),
    instance(4, "10.18.9.1", "192.0.2.1", "10.30.0.6"),
  ];
  const { services, peers } = viewOfCluster([["a.b.c.d", instances]], OWN);
  expect(services[0]?.instances.map(({ number, node }) => `${number} ${node}`)).toEqual([
    ...["0 here", "1 192.0.2.2:50103", "2 192.0.2.2:50103", "3 here", "4 here"],
  ]);
  expect(services[0]?.addresses.map(({ address, instance }) => `${address} ${instance}`)).toEqual([
    ...["10.30.0.1 -1", "10.30.0.2 0", "10.30.0.3 1", "10.30.0.5 3", "10.30.0.6 4"],
  ]);
  expect(peers).toMatchObject([
    { node: "192.0.2.2:50103", subnets: ["10.18.0.130/32", "10.18.0.131/32"], modes: ["compat"] },
  ]);
});

test("what two jobs claim is the first one's, so that the rest goes on", () => {
  const one = instance(0, "10.18.0.130", "192.0.2.2", "10.30.0.2");
  const { services, peers } = viewOfCluster(
    [
      ["a.b.c.d", [one]],
      ["a.b.c.e", [{ ...one, host: { ip: "192.0.2.3", port: 50_103 } }]],
    ],
    OWN,
  );
  expect(services[1]).toMatchObject({ key: "default/a.b.c.e", addresses: [], instances: [] });
  expect(peers.map(({ node }) => node)).toEqual(["192.0.2.2:50103"]);
});

test("a machine without IPv6 goes on with all others, and says whom it can not call", () => {
  const jobs = [
    [
      "a.b.c.d",
      [
        instance(0, "10.18.0.130", "2001:db8::2", "10.30.0.2"),
        instance(1, "10.18.0.131", "192.0.2.3", "10.30.0.3"),
      ],
    ],
  ] as const;
  const { services, peers, leftOut } = viewOfCluster(jobs, { ...OWN, families: ["v4"] });
  expect(peers.map(({ node }) => node)).toEqual(["192.0.2.3:50103"]);
  expect(services[0]?.instances).toHaveLength(2);
  expect(leftOut).toEqual([
    "[2001:db8::2]:50103: its address 2001:db8::2 can not be called from here, as this machine has no IPv6",
  ]);
  const { peers: all, leftOut: none } = viewOfCluster(jobs, OWN);
  expect([all.length, none]).toEqual([2, []]);
});
