import fc from "fast-check";
import { expect, test } from "vitest";
import { type Endpoint, parseEndpoint, remoteEndpoint, renderEndpoint } from "./endpoint.ts";

const NETWORK = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";
const REMOTE = remoteEndpoint({
  id: "706f7274-6f6c-8abc-8abc-0123456789ab",
  name: "portolan-10.244.2.5",
  networkId: NETWORK,
  addresses: [{ address: "10.244.2.5", prefixLength: 24 }],
  macAddress: "02-11-0A-F4-02-05",
  providerAddress: "192.0.2.2",
});

test("a remote endpoint in the JSON of HCN, with no field that says nothing", () => {
  expect(JSON.parse(renderEndpoint(REMOTE))).toEqual({
    ID: "706f7274-6f6c-8abc-8abc-0123456789ab",
    Name: "portolan-10.244.2.5",
    HostComputeNetwork: NETWORK,
    Policies: [{ Type: "ProviderAddress", Settings: { ProviderAddress: "192.0.2.2" } }],
    IpConfigurations: [{ IpAddress: "10.244.2.5", PrefixLength: 24 }],
    MacAddress: "02-11-0A-F4-02-05",
    Flags: 1,
    SchemaVersion: { Major: 2, Minor: 0 },
  });
});

test("what HNS adds or leaves out is no harm, and ids have one spelling", () => {
  const json = JSON.stringify({
    ID: "0F5F6E1C-0F5E-4D5C-9F0A-2B7E8F9D1C12",
    Policies: null,
    IpConfigurations: [{ IpAddress: "FD00:0:0::5", PrefixLength: 64 }],
    Health: { Extra: {} },
    Flags: 0,
  });
  expect(parseEndpoint(json)).toMatchObject({
    id: "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c12",
    name: "",
    addresses: [{ address: "fd00::5", prefixLength: 64 }],
    isRemote: false,
    otherPolicies: [],
  });
});

test.each(["nonsense", "[]", '{"IpConfigurations":[{"PrefixLength":"24"}]}'])(
  "what is no endpoint is refused: %s",
  (json) => {
    expect(() => parseEndpoint(json)).toThrow(/HCN answered/);
  },
);

const text = fc.string({ minLength: 1, maxLength: 6 });

test("there and back again changes nothing", () => {
  const endpoints: fc.Arbitrary<Endpoint> = fc.record({
    id: fc.uuid(),
    name: text,
    networkId: fc.uuid(),
    namespaceId: fc.constantFrom("", NETWORK),
    addresses: fc.array(
      fc.record({
        address: fc.constantFrom("10.0.0.1", "fd00::1"),
        prefixLength: fc.integer({ min: 1, max: 128 }),
      }),
    ),
    macAddress: fc.constantFrom("", "02-11-0A-F4-02-05"),
    isRemote: fc.boolean(),
    otherFlags: fc.constantFrom(0, 8),
    providerAddress: fc.constantFrom("", "192.0.2.9"),
    otherPolicies: fc.array(
      fc.record({
        type: fc.constant("OutBoundNAT"),
        settings: fc.constant({ VirtualIP: "10.0.0.9" }),
      }),
    ),
    routes: fc.array(fc.record({ nextHop: text, destination: text, metric: fc.nat() })),
    dns: fc.record({
      domain: fc.constantFrom("", "cluster.local"),
      search: fc.array(text),
      servers: fc.array(text),
      options: fc.array(text),
    }),
  });
  fc.assert(
    fc.property(endpoints, (endpoint) => {
      expect(parseEndpoint(renderEndpoint(endpoint))).toEqual(endpoint);
    }),
  );
});
