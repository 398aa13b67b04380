import fc from "fast-check";
import { expect, test } from "vitest";
import { type LoadBalancer, parseLoadBalancer, renderLoadBalancer } from "./load-balancer.ts";

const ID = "706f7274-6f6c-8abc-8abc-0123456789ab";
const POD = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";

test("a node port with affinity and direct server return in the JSON of HCN", () => {
  const balancer: LoadBalancer = {
    id: ID,
    endpoints: [POD],
    sourceVip: "10.244.1.2",
    frontendVips: [],
    portMappings: [
      {
        protocol: "UDP",
        internalPort: 53,
        externalPort: 30053,
        distribution: "source-ip",
        flags: ["localRoutedVip", "vipExternalIp"],
        otherFlags: 0,
      },
    ],
    isDsr: true,
    isIpv6: false,
    otherFlags: 0,
  };
  expect(JSON.parse(renderLoadBalancer(balancer))).toEqual({
    ID,
    HostComputeEndpoints: [POD],
    SourceVIP: "10.244.1.2",
    PortMappings: [
      { Protocol: 17, InternalPort: 53, ExternalPort: 30053, DistributionType: 2, Flags: 18 },
    ],
    Flags: 1,
    SchemaVersion: { Major: 2, Minor: 0 },
  });
});

test.each([
  '{"PortMappings":[{"Protocol":1}]}',
  '{"PortMappings":[{"Protocol":6,"DistributionType":7}]}',
])("what is not of the schema is refused: %s", (json) => {
  expect(() => parseLoadBalancer(json)).toThrow(/not of its schema/);
});

test("there and back again changes nothing", () => {
  const flags = ["ilb", "localRoutedVip", "useMux", "preserveDip", "vipExternalIp"] as const;
  const port = fc.integer({ min: 1, max: 65_535 });
  const balancers: fc.Arbitrary<LoadBalancer> = fc.record({
    id: fc.uuid(),
    endpoints: fc.array(fc.uuid()).map((ids) => ids.sort()),
    sourceVip: fc.constantFrom("", "10.0.0.9", "fd00::9"),
    frontendVips: fc.subarray(["10.96.0.1", "fd00::1"]),
    portMappings: fc.array(
      fc.record({
        protocol: fc.constantFrom("TCP", "UDP", "SCTP"),
        internalPort: port,
        externalPort: port,
        distribution: fc.constantFrom("none", "source-ip-and-protocol", "source-ip"),
        flags: fc.subarray([...flags]),
        otherFlags: fc.constantFrom(0, 32),
      }),
    ),
    isDsr: fc.boolean(),
    isIpv6: fc.boolean(),
    otherFlags: fc.constantFrom(0, 4),
  });
  fc.assert(
    fc.property(balancers, (balancer) => {
      expect(parseLoadBalancer(renderLoadBalancer(balancer))).toEqual(balancer);
    }),
  );
});
