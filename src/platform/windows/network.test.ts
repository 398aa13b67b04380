import fc from "fast-check";
import { expect, test } from "vitest";
import { type Network, parseNetwork, renderNetwork, subnetsOf } from "./network.ts";

/** As flannel's CNI leaves one, shortened. */
const OVERLAY = JSON.stringify({
  ID: "5A1B9C1D-0F5E-4D5C-9F0A-2B7E8F9D1C11",
  Name: "vxlan0",
  Type: "Overlay",
  Policies: [
    { Type: "HostRoute", Settings: {} },
    {
      Type: "RemoteSubnetRoute",
      Settings: {
        DestinationPrefix: "10.244.2.0/24",
        IsolationId: 4096,
        ProviderAddress: "192.0.2.2",
        DistributedRouterMacAddress: "0e-2a-11-22-33-44",
      },
    },
  ],
  MacPool: {
    Ranges: [{ StartMacAddress: "00-15-5D-52-C0-00", EndMacAddress: "00-15-5D-52-CF-FF" }],
  },
  Dns: { Domain: "cluster.local", ServerList: ["10.96.0.10"] },
  Ipams: [
    {
      Type: "Static",
      Subnets: [
        {
          IpAddressPrefix: "10.244.1.0/24",
          Policies: [{ Type: "VSID", Settings: { IsolationId: 4096 } }],
          Routes: [{ NextHop: "10.244.1.1", DestinationPrefix: "0.0.0.0/0" }],
        },
      ],
    },
  ],
  Flags: 0,
  Health: { Extra: {} },
  SchemaVersion: { Major: 2, Minor: 0 },
});

test("an overlay network as HCN tells of it", () => {
  const network = parseNetwork(OVERLAY);
  expect(network).toMatchObject({
    id: "5a1b9c1d-0f5e-4d5c-9f0a-2b7e8f9d1c11",
    name: "vxlan0",
    type: "Overlay",
    remoteSubnets: [{ prefix: "10.244.2.0/24", isolationId: 4096, providerAddress: "192.0.2.2" }],
    otherPolicies: [{ type: "HostRoute", settings: {} }],
    macRanges: [{ start: "00-15-5D-52-C0-00", end: "00-15-5D-52-CF-FF" }],
    dns: { domain: "cluster.local", servers: ["10.96.0.10"] },
  });
  expect(subnetsOf(network)).toEqual(["10.244.1.0/24"]);
});

test("there and back again changes nothing", () => {
  const text = fc.string({ minLength: 1, maxLength: 6 });
  const policies = fc.array(
    fc.record({ type: fc.constant("Other"), settings: fc.constant({ A: 1 }) }),
  );
  const networks: fc.Arbitrary<Network> = fc.record({
    id: fc.uuid(),
    name: text,
    type: fc.constantFrom("L2Bridge", "Overlay"),
    ipams: fc.array(
      fc.record({
        type: text,
        subnets: fc.array(
          fc.record({
            prefix: text,
            policies,
            routes: fc.array(fc.record({ nextHop: text, destination: text, metric: fc.nat() })),
            flags: fc.nat(8),
          }),
        ),
      }),
    ),
    remoteSubnets: fc.array(
      fc.record({
        prefix: text,
        isolationId: fc.nat(),
        providerAddress: fc.constant("192.0.2.2"),
        macAddress: text,
      }),
    ),
    otherPolicies: policies,
    macRanges: fc.array(fc.record({ start: text, end: text })),
    dns: fc.record({
      domain: text,
      search: fc.array(text),
      servers: fc.array(text),
      options: fc.array(text),
    }),
    flags: fc.nat(8),
  });
  fc.assert(
    fc.property(networks, (network) => {
      expect(parseNetwork(renderNetwork(network))).toEqual(network);
    }),
  );
});
