import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import { parseKind } from "../../../core/model/parse.ts";
import { parseState } from "../parse-state.ts";

const load = (state: object) =>
  parseState([{ name: "kpng.yaml", bytes: new TextEncoder().encode(JSON.stringify(state)) }]);

/** As KPNG itself writes it: with null, empty values and fields of no use here. */
const FULL = {
  nodes: [
    { name: "vm-1", labels: { a: "b" }, annotations: {}, topology: { node: "vm-1", zone: "z1" } },
  ],
  services: [
    {
      service: {
        namespace: "shop",
        name: "web",
        type: "LoadBalancer",
        labels: {},
        annotations: null,
        ips: {
          clusterips: { v4: ["10.96.0.1"], v6: ["fd00::1"] },
          externalips: null,
          loadbalancerips: { v4: ["203.0.113.1"], v6: [] },
          headless: false,
        },
        mapip: false,
        ports: [
          {
            name: "dns",
            protocol: 2,
            port: 53,
            nodeport: 30053,
            targetport: 0,
            targetportname: "dns",
          },
        ],
        externaltraffictolocal: true,
        internaltraffictolocal: false,
        ipfilters: [{ targetips: { v4: ["203.0.113.1"], v6: [] }, sourceranges: ["10.0.0.0/8"] }],
        sessionaffinity: { clientip: { timeoutseconds: 60 } },
        healthchecknodeport: 30054,
      },
      topologykeys: [],
      endpoints: [
        {
          hash: 1681,
          namespace: "shop",
          sourcename: "web-x1",
          servicename: "web",
          podname: "web-0",
          endpoint: {
            hostname: "",
            ips: { v4: ["10.0.0.1"], v6: ["fd00::a"] },
            local: false,
            portoverrides: [{ name: "dns", port: 5353 }],
            scopes: null,
          },
          conditions: { ready: false },
          topology: { node: "vm-1", zone: "z1" },
          hints: { zones: ["z1"] },
        },
        { nodename: "vm-2", podname: "web-0", endpoint: { ips: { v4: ["10.0.0.2"] } } },
        { endpoint: { ips: { v4: ["10.0.0.3"] } } },
      ],
    },
  ],
};

test("services, endpoints and nodes are taken over", () => {
  const endpoint = { namespace: "shop", group: "web" };
  const [node, service, first, second, third] = load(FULL).objects;
  expect(node).toEqual(parseKind("Node", { name: "vm-1", labels: { a: "b" }, zone: "z1" }));
  expect(service).toEqual(
    parseKind("Service", {
      namespace: "shop",
      name: "web",
      type: "LoadBalancer",
      clusterIPs: ["10.96.0.1", "fd00::1"],
      loadBalancerIPs: ["203.0.113.1"],
      ports: [{ name: "dns", protocol: "UDP", port: 53, nodePort: 30_053, targetPortName: "dns" }],
      externalTrafficPolicy: "Local",
      affinitySeconds: 60,
      sourceRanges: ["10.0.0.0/8"],
      healthCheckNodePort: 30_054,
    }),
  );
  expect(first).toEqual(
    parseKind("Endpoint", {
      ...endpoint,
      name: "web-0",
      podName: "web-0",
      source: "web-x1",
      addresses: ["10.0.0.1", "fd00::a"],
      ports: [{ name: "dns", port: 5353 }],
      node: "vm-1",
      zone: "z1",
      hints: { zones: ["z1"] },
      ready: false,
      serving: false,
    }),
  );
  expect(second).toMatchObject({
    podName: "web-0",
    name: expect.stringMatching(/^web-0@/),
    node: "vm-2",
    ready: true,
  });
  expect(third).toMatchObject({
    podName: "",
    name: expect.stringMatching(/^[\da-f]{16}$/),
    source: "web",
  });
});

test("the namespace is default, and an absent list is an empty one", () => {
  const { objects } = load({ services: [{ service: { name: "web" } }] });
  expect(objects).toMatchObject([
    { kind: "Service", namespace: "default", ports: [], clusterIPs: [] },
  ]);
});

test("headless services are left out, with their endpoints", () => {
  const service = { name: "web", ips: { headless: true } };
  const endpoints = [{ endpoint: { ips: { v4: ["10.0.0.1"] } } }];
  expect(load({ services: [{ service, endpoints }] })).toEqual({
    objects: [],
    skipped: ["1 x Service: headless"],
  });
});

test.each([
  [
    { ports: [{ protocol: 4, port: 80 }] },
    "services[0].service.ports[0].protocol: 4 is not valid; expected one of 1, 2, 3",
  ],
  [
    { ports: [{ protocol: 1, port: 70000 }] },
    "services[0].service.ports[0].port: 70000 is not valid; expected a whole number from 1 to 65535",
  ],
  [
    { ips: { clusterips: { v4: ["x"] } } },
    'services[0].service.ips.clusterips.v4[0]: "x" is not valid; expected an IPv4 or IPv6 address',
  ],
  [{ clusterips: [] }, "services[0].service.clusterips: unknown key; expected"],
])("what is wrong is said: %j", (fields, problem) => {
  expect(() => load({ services: [{ service: { name: "web", ...fields } }] })).toThrow(CoreError);
  expect(() => load({ services: [{ service: { name: "web", ...fields } }] })).toThrow(problem);
});
