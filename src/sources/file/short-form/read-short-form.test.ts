import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import type { ModelObject, ObjectOf } from "../../../core/model/object.ts";
import { parseKind } from "../../../core/model/parse.ts";
import { parseState } from "../parse-state.ts";

const load = (form: object) => {
  const bytes = new TextEncoder().encode(JSON.stringify({ version: 1, ...form }));
  return parseState([{ name: "s.json", bytes }]).objects;
};

function only<K extends ModelObject["kind"]>(kind: K, form: object): ObjectOf<K>[] {
  return load(form).filter((object): object is ObjectOf<K> => object.kind === kind);
}

const inService = (service: object) => ({ services: { web: service } });

/** The problems of a service, without file and line. */
function problemsOf(service: object): string[] {
  try {
    load(inService(service));
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    return error.message
      .split("\n")
      .map((line) => line.replace(/^s\.json:\d+: services\.web\.?/, ""));
  }
  return [];
}

test("five lines make a service, its listener and its endpoints", () => {
  const objects = load(
    inService({ listen: "127.0.0.1:8080", servers: ["127.0.0.1:9001", "127.0.0.1:9002"] }),
  );
  const endpoint = (port: number) =>
    parseKind("Endpoint", {
      name: `127.0.0.1:${port}`,
      group: "web",
      addresses: ["127.0.0.1"],
      ports: [{ port }],
    });
  expect(objects).toEqual([
    parseKind("Service", { name: "web", type: "Plain", ports: [{ port: 8080 }] }),
    parseKind("Listener", {
      name: "web",
      address: "127.0.0.1",
      port: 8080,
      service: "default/web",
    }),
    endpoint(9001),
    endpoint(9002),
  ]);
});

test("one value stands for a list of one, in every place", () => {
  const many = {
    listen: ["127.0.0.1:80"],
    servers: ["10.0.0.1:1"],
    clusterIPs: ["10.96.0.1"],
    sourceRanges: ["10.0.0.0/8"],
  };
  const one = {
    listen: 80,
    servers: "10.0.0.1:1",
    clusterIPs: "10.96.0.1",
    sourceRanges: "10.0.0.0/8",
  };
  expect(load(inService(one))).toEqual(load(inService(many)));
});

test("names have a namespace: their own, the file's or the default one", () => {
  const services = { "prod/web": { listen: 80, servers: "10.0.0.1:1" }, api: {} };
  const keys = (form: object) =>
    load(form).map((object) => `${object.kind} ${"namespace" in object && object.namespace}`);
  expect(keys({ services, namespace: "test" })).toEqual([
    "Service prod",
    "Listener prod",
    "Endpoint prod",
    "Service test",
  ]);
  expect(keys({ services: { api: {} } })).toEqual(["Service default"]);
});

test("references are of the namespace of who refers", () => {
  const [listener] = only("Listener", {
    services: {
      "shop/web": {
        listen: {
          address: 443,
          tls: { certificates: ["own", "other/cert"], clientCaFile: "ca.pem" },
          securityGroup: "office",
        },
        servers: { address: "10.0.0.1:1", needs: ["db", "infra/dns"] },
      },
    },
  });
  expect(listener?.tls).toEqual({
    certificates: ["shop/own", "other/cert"],
    clientCaFile: "ca.pem",
    peers: [],
  });
  expect(listener?.securityGroup).toBe("shop/office");
});

const WEB = "spiffe://portolan/service/default/web";

test("who may call, and whom a group calls, is told by identity", () => {
  const form = {
    services: {
      in: {
        listen: { address: 443, tls: { certificates: "id", peers: WEB } },
        tls: { certificate: "other/id", peers: [`!${WEB}`, "spiffe://portolan/*"] },
        servers: "10.0.0.1:1",
      },
    },
    groups: { "shop/out": { tls: { certificate: "id", peers: WEB } } },
  };
  expect(only("Listener", form)).toMatchObject([{ tls: { peers: [WEB], clientCaFile: "" } }]);
  expect(only("Group", form)).toMatchObject([
    { tls: { certificate: "other/id", peers: [`!${WEB}`, "spiffe://portolan/*"] } },
    { name: "out", tls: { certificate: "shop/id", peers: [WEB] } },
  ]);
});

test.each([
  [8080, { address: "127.0.0.1", port: 8080 }],
  ["8080", { address: "127.0.0.1", port: 8080 }],
  ["[FD00::1]:80", { address: "fd00::1", port: 80 }],
  ["unix:/run/web.sock", { address: "/run/web.sock", port: 0 }],
  [
    { address: "unix:/run/web.sock", mode: "http", node: "n1" },
    { mode: "http", node: "n1", port: 0 },
  ],
  [
    { address: 80, idleTimeout: "1.5m", connectTimeout: "250ms" },
    { idleTimeoutMs: 90_000, connectTimeoutMs: 250 },
  ],
  [
    { address: 80, proxyProtocol: { send: "v1", acceptFrom: ["10.1.0.0/8"] } },
    { proxyProtocol: { send: "v1", acceptFrom: ["10.0.0.0/8"] } },
  ],
  [
    { address: 80, tls: "cert", name: "front", labels: { a: "b" } },
    { name: "front", labels: { a: "b" }, tls: { certificates: ["default/cert"] } },
  ],
  [
    {
      address: 80,
      mode: "socks5",
      fallsBack: true,
      allowOthers: true,
      inBufferBytes: 1024,
      outBufferBytes: 2048,
      acceptLoops: "a",
      workLoops: "w",
    },
    {
      fallsBack: true,
      allowOthers: true,
      inBufferBytes: 1024,
      outBufferBytes: 2048,
      acceptLoops: "a",
      workLoops: "w",
    },
  ],
])("listen %j", (listen, expected) => {
  expect(only("Listener", inService({ listen }))[0]).toMatchObject(expected);
});

test("further listeners are numbered", () => {
  const listen = [80, 81, { address: 82, name: "extra" }, 83];
  expect(only("Listener", inService({ listen })).map((listener) => listener.name)).toEqual([
    "web",
    "web-2",
    "extra",
    "web-4",
  ]);
});

test("listeners of two protocols make two ports, and a server serves both", () => {
  const objects = load(
    inService({ listen: [53, { address: 53, mode: "udp" }], servers: "10.0.0.53:5353" }),
  );
  expect(objects).toMatchObject([
    {
      ports: [
        { name: "tcp", protocol: "TCP", port: 53 },
        { name: "udp", protocol: "UDP", port: 53 },
      ],
    },
    { name: "web", servicePort: "tcp" },
    { name: "web-2", servicePort: "udp" },
    {
      ports: [
        { name: "tcp", port: 5353 },
        { name: "udp", port: 5353 },
      ],
    },
  ]);
});

test("a listener finds its port by name, by protocol, by number", () => {
  const ports = [
    { name: "http", port: 80 },
    { name: "https", port: 443 },
    { name: "dns", port: 53, protocol: "UDP" },
  ];
  const listen = [
    { address: 8080, servicePort: "https" },
    { address: 443 },
    { address: 5353, mode: "udp" },
  ];
  const listeners = only("Listener", inService({ ports, listen }));
  expect(listeners.map((listener) => listener.servicePort)).toEqual(["https", "https", "dns"]);
  expect(problemsOf({ ports, listen: 9999 })).toEqual([
    'listen[0].servicePort: missing; expected the name of a port of the service: "http", "https", "dns"',
  ]);
});

test.each([
  [80, { name: "", protocol: "TCP", port: 80, targetPort: 80, targetPortName: "" }],
  ["53/udp", { protocol: "UDP", port: 53, targetPort: 53 }],
  [
    { port: 80, targetPort: "http", nodePort: 30080 },
    { targetPort: 0, targetPortName: "http", nodePort: 30080 },
  ],
])("port %j", (ports, expected) => {
  expect(only("Service", inService({ ports }))[0]?.ports).toEqual([
    expect.objectContaining(expected),
  ]);
});

test.each([
  [{ listen: 80 }, "Plain"],
  [{ edgeIPs: "10.30.0.1" }, "Plain"],
  [{ clusterIPs: "10.96.0.1", ports: 80 }, "ClusterIP"],
  [{ ports: { port: 80, nodePort: 30080 } }, "NodePort"],
  [{ loadBalancerIPs: "203.0.113.1", ports: 80 }, "LoadBalancer"],
  [{ type: "ClusterIP" }, "ClusterIP"],
])("type of %j is %s", (service, type) => {
  expect(only("Service", inService(service))[0]?.type).toBe(type);
});

test("policies, affinity and edge addresses", () => {
  const [service] = only(
    "Service",
    inService({
      edgeIPs: ["10.30.0.1", { address: "10.30.0.2", policy: "instance", instance: 0 }],
      affinity: true,
      internalTrafficPolicy: "Local",
      externalTrafficPolicy: "Local",
      healthCheckNodePort: 30081,
      trafficDistribution: "PreferSameNode",
    }),
  );
  expect(service).toMatchObject({
    edgeIPs: [
      { address: "10.30.0.1", policy: "round-robin", instance: -1 },
      { address: "10.30.0.2", policy: "instance", instance: 0 },
    ],
    affinitySeconds: 10_800,
    internalTrafficPolicy: "Local",
    externalTrafficPolicy: "Local",
    healthCheckNodePort: 30_081,
    trafficDistribution: "PreferSameNode",
  });
});

test.each([
  ["10.0.0.1:1", { name: "10.0.0.1:1", addresses: ["10.0.0.1"], ports: [{ name: "", port: 1 }] }],
  ["10.0.0.1", { name: "10.0.0.1", ports: [] }],
  ["[FD00::1]:1", { name: "[fd00::1]:1", addresses: ["fd00::1"] }],
  ["fd00::1", { name: "fd00::1", addresses: ["fd00::1"], ports: [] }],
  ["db.example:1", { name: "db.example:1", addresses: [], hostName: "db.example" }],
  [
    { address: ["10.0.0.1:1", "[fd00::1]:1"], name: "both" },
    { name: "both", addresses: ["10.0.0.1", "fd00::1"] },
  ],
  [
    { address: "10.0.0.1", weight: 0, instance: 2, ready: false },
    { weight: 0, instance: 2, ready: false },
  ],
  [
    { address: "10.0.0.1", node: "n", zone: "z", forZones: ["a"], forNodes: ["b"] },
    { node: "n", zone: "z", hints: { zones: ["a"], nodes: ["b"] } },
  ],
  [
    { address: "10.0.0.1", terminating: true, serving: false, podName: "p", needs: "db" },
    { terminating: true, serving: false, podName: "p", needs: ["default/db"] },
  ],
])("server %j", (servers, expected) => {
  expect(only("Endpoint", inService({ ports: 80, servers }))[0]).toMatchObject(expected);
});

test("ports of a server go by the service's names, and HOST:PORT is for the others", () => {
  const ports = [
    { name: "a", port: 1 },
    { name: "b", port: 2, targetPort: "bee" },
  ];
  const server = (fields: object) =>
    only("Endpoint", inService({ ports, servers: { address: "10.0.0.1", ...fields } }))[0];
  expect(server({ ports: { a: 10, bee: 20 } })?.ports).toEqual([
    { name: "a", port: 10 },
    { name: "bee", port: 20 },
  ]);
  expect(server({ address: "10.0.0.1:9", ports: { a: 10 } })?.ports).toEqual([
    { name: "a", port: 10 },
    { name: "b", port: 9 },
  ]);
});

test("a group of its own is an object only where something is said of it", () => {
  expect(only("Group", inService({ listen: 80, servers: "10.0.0.1:1" }))).toEqual([]);
  const service = {
    listen: 80,
    servers: "10.0.0.1:1",
    method: "random",
    healthCheck: { protocol: "http", interval: "3s", timeout: "1s", http: { path: "/ok" } },
    labels: { a: "b" },
  };
  expect(only("Group", inService(service))).toMatchObject([
    {
      name: "web",
      labels: {},
      method: "random",
      healthCheck: {
        protocol: "http",
        intervalMs: 3000,
        timeoutMs: 1000,
        http: { method: "GET", path: "/ok" },
      },
    },
  ]);
});

test("groups are shared, with weights and hints; servers get the names of the ports of who uses them", () => {
  const form = {
    services: {
      web: {
        ports: [{ name: "http", port: 80 }],
        groups: [
          "api",
          { name: "other/pages", weight: 3, hints: { host: "*.example", path: "/x" } },
        ],
        servers: "10.0.0.9",
      },
    },
    groups: {
      api: {
        servers: "10.0.0.1:8080",
        healthCheck: "tcp",
        hints: { port: 443 },
        labels: { a: "b" },
      },
      unused: { servers: "10.0.0.2:8080" },
    },
  };
  expect(only("Service", form)[0]?.groups).toMatchObject([
    { group: "default/web", weight: 1 },
    { group: "default/api", weight: 1 },
    { group: "other/pages", weight: 3, hints: { host: "*.example", port: 0, path: "/x" } },
  ]);
  expect(only("Endpoint", form).map((endpoint) => endpoint.ports)).toEqual([
    [],
    [{ name: "http", port: 8080 }],
    [{ name: "", port: 8080 }],
  ]);
  expect(only("Group", form)).toMatchObject([
    { name: "api", labels: { a: "b" }, healthCheck: { protocol: "tcp" }, hints: { port: 443 } },
    { name: "unused" },
  ]);
});

test.each([
  [{ groups: ["a", "b", "default/a"] }, 'groups[2]: "default/a" is not valid'],
  [{ groups: ["a", { name: "a", weight: 2 }] }, 'groups[1]: "a" is not valid'],
  [{ servers: "10.1.0.1:80", groups: ["a", "web"] }, 'groups[1]: "web" is not valid'],
])("a group is named once: %j", (service, problem) => {
  expect(problemsOf(service)).toEqual([
    `${problem}; expected a group that the service does not have already`,
  ]);
});

test("nodes, certificates, security groups and objects", () => {
  const objects = load({
    nodes: {
      n1: {
        addresses: "192.0.2.1",
        zone: "a",
        subnets: "10.1.0.9/24",
        tunnel: { address: "198.51.100.1:50103" },
        alive: false,
      },
    },
    certificates: { c: { certFiles: "c.pem", keyFile: "k.pem", caFile: "ca.pem" } },
    securityGroups: {
      "shop/s": {
        default: "deny",
        rules: [
          "allow 10.1.0.0/8",
          { network: "::/0", access: "allow", ports: "80-90", protocol: "UDP" },
          { name: "x", network: "1.2.3.4", access: "deny", ports: 5 },
        ],
      },
    },
    objects: [{ kind: "Node", name: "n2" }],
  });
  expect(objects).toMatchObject([
    {
      kind: "Node",
      name: "n1",
      addresses: ["192.0.2.1"],
      subnets: ["10.1.0.0/24"],
      tunnel: { publicKey: "" },
      alive: false,
    },
    { kind: "Certificate", name: "c", certFiles: ["c.pem"] },
    {
      kind: "SecurityGroup",
      namespace: "shop",
      defaultAccess: "deny",
      rules: [
        {
          name: "rule-1",
          network: "10.0.0.0/8",
          protocol: "any",
          minPort: 1,
          maxPort: 65_535,
          access: "allow",
        },
        {
          name: "rule-2",
          network: "::/0",
          protocol: "UDP",
          minPort: 80,
          maxPort: 90,
          access: "allow",
        },
        { name: "x", network: "1.2.3.4/32", minPort: 5, maxPort: 5, access: "deny" },
      ],
    },
    { kind: "Node", name: "n2" },
  ]);
});

test.each([
  [{ lisen: 80 }, 'lisen: unknown key; expected "listen"'],
  [
    { listen: { address: "localhost:80" } },
    'listen.address: "localhost:80" is not valid; expected IP:PORT, PORT (on loopback) or unix:/PATH',
  ],
  [{ listen: { address: 80, mdoe: "tcp" } }, 'listen.mdoe: unknown key; expected "mode"'],
  [
    { listen: [{ address: 80, idleTimeout: 5 }] },
    "listen[0].idleTimeout: 5 is not valid; expected a duration such as 500ms, 5s, 10m or 3h",
  ],
  [
    { listen: { address: 80, tls: { certificats: "x", certificates: "y" } } },
    'listen.tls.certificats: unknown key; expected "certificates"',
  ],
  [
    { listen: 80, servers: "10.0.0.1" },
    'servers[0]: "10.0.0.1" is not valid; expected HOST:PORT, since the service says no target port',
  ],
  [
    { listen: 80, servers: ["10.0.0.1:70000"] },
    'servers[0]: "10.0.0.1:70000" is not valid; expected HOST:PORT or HOST, an address or a name, or unix:/PATH',
  ],
  [
    { listen: 80, servers: { address: ["10.0.0.1:1", "a.example:1"] } },
    "servers.address: a list is not valid; expected addresses that mean the same server: all with one port, or a single host name or unix socket",
  ],
  [
    { ports: 80, servers: { address: "10.0.0.1", ports: { htp: 1 } } },
    'servers[0]: "10.0.0.1" is not valid; expected ports of the service (""), not "htp"',
  ],
  [{ ports: [0] }, "ports[0]: 0 is not valid; expected a whole number from 1 to 65535"],
  [
    { ports: "70000/tcp" },
    'ports: "70000/tcp" is not valid; expected a port from 1 to 65535, or one with its protocol such as 53/udp',
  ],
  [
    { ports: [80, 80] },
    'ports[1].name: "" is not valid; expected a name that no other port of the service has',
  ],
  [
    { clusterIPs: "10.96.0.1" },
    "ports: missing; expected at least one port, for the addresses of the service",
  ],
  [
    { groups: "api", method: "random" },
    ': "a method, health check, hint or tls without servers" is not valid; expected them at the groups it names',
  ],
  [
    { ports: 1, tls: { certificate: "id", peers: "web" } },
    'tls.peers: "web" is not valid; expected an identity such as spiffe://portolan/service/default/web, .../* for all below it, or ! and one of these for who may not',
  ],
  [{ ports: 1, tls: { certificate: "id" } }, "tls.peers: missing; expected a list or a text"],
  [
    { affinity: "soon" },
    'affinity: "soon" is not valid; expected a duration such as 500ms, 5s, 10m or 3h',
  ],
])("%j is refused", (service, problem) => {
  expect(problemsOf(service)[0]).toBe(problem);
});

test("a server that is listed twice is refused with both places", () => {
  expect(problemsOf({ listen: 80, servers: ["10.0.0.1:1", "10.0.0.1:1"] })).toEqual([
    "servers[1]: Endpoint default/web/10.0.0.1:1 is taken; expected another one: Endpoint default/web/10.0.0.1:1 (s.json:1) has it",
  ]);
});

test("a server on a unix socket needs no port, and may name its node", () => {
  const servers = ["unix:/run/a.sock", { address: "unix:/run/b.sock", node: "n1", weight: 2 }];
  expect(only("Endpoint", inService({ listen: 80, servers }))).toMatchObject([
    { name: "unix:run:a.sock", hostName: "/run/a.sock", addresses: [], ports: [], node: "" },
    { name: "unix:run:b.sock", hostName: "/run/b.sock", node: "n1", weight: 2 },
  ]);
});
