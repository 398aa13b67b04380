import { describe, expect, test } from "vitest";
import { groupSchema } from "../../core/model/group.ts";
import { nodeSchema } from "../../core/model/node.ts";
import { securityGroupSchema } from "../../core/model/security-group.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { EngineConfig, ListenerConfig } from "../../proxy/engine-config.ts";
import { endpoint, listener, plan, service } from "./plan-engine.fixture.ts";
import type { EnginePlan } from "./plan-engine.ts";

const NODE = nodeSchema.parse({
  kind: "Node",
  name: "node-a",
  addresses: ["192.0.2.1", "2001:db8::1", "198.51.100.7"],
});

/** Where each listener listens. */
function addressesOf({ config }: EnginePlan): readonly string[] {
  return config.listeners.map(({ address, mode }) => `${formatSocketAddress(address)} ${mode}`);
}

/** The servers that a listener leads to. */
function serversOf(config: EngineConfig, { upstream }: ListenerConfig): readonly string[] {
  const groups = config.upstreams.find(({ key }) => key === upstream)?.groups ?? [];
  return groups.flatMap(({ group: wanted }) => {
    const group = config.groups.find(({ key }) => key === wanted);
    return (group?.servers ?? []).map(({ host, port }) => `${host} ${port}`);
  });
}

function reached({ config }: EnginePlan): readonly (readonly string[])[] {
  return config.listeners.map((one) => serversOf(config, one));
}

describe("listeners", () => {
  test("lead to the endpoints of their own family", async () => {
    const objects = [
      service({}),
      endpoint("a"),
      endpoint("b", { addresses: ["10.0.0.2"] }),
      listener(),
      listener({ name: "six", address: "::1" }),
    ];
    const planned = await plan(objects);
    expect(addressesOf(planned)).toEqual(["127.0.0.1:8080 tcp", "[::1]:8080 tcp"]);
    expect(reached(planned)).toEqual([["10.0.0.1 8080", "10.0.0.2 8080"], ["fd00::1 8080"]]);
    expect(planned.notHonoured).toEqual([
      "it is called by IPv6, and its servers that are reached by IPv4 only are not used: Listener default/six (default/web/b)",
    ]);
    expect(planned.unserved).toEqual([]);
  });

  test.each([
    [{ mode: "http" }, true],
    [{ mode: "http", fallsBack: false }, false],
    [{ mode: "socks5" }, false],
    [{ mode: "socks5", fallsBack: true }, true],
    [{ mode: "dns" }, false],
  ])("with %j fall back: %s", async (more, fallsBack) => {
    const { config } = await plan([service({}), endpoint("a"), listener(more)]);
    expect(config.listeners.map((one) => one.fallsBack)).toEqual([fallsBack]);
  });

  test("on a unix path lead to endpoints of either family", async () => {
    const only6 = endpoint("b", { addresses: ["fd00::2"] });
    const objects = [service({}), endpoint("a"), only6, listener({ address: "/run/x", port: 0 })];
    const planned = await plan(objects);
    expect(addressesOf(planned)).toEqual(["unix:/run/x tcp"]);
    expect(reached(planned)).toEqual([["10.0.0.1 8080", "fd00::2 8080"]]);
  });

  test("share the upstream of one port, with its affinity, method, check, weights and hints", async () => {
    const group = groupSchema.parse({
      kind: "Group",
      name: "web",
      method: "least-connections",
      healthCheck: { protocol: "tcp", intervalMs: 700 },
      hints: { host: "a.example" },
    });
    const other = { group: "default/other", weight: 3, hints: { path: "/other" } };
    const objects = [
      service({ affinitySeconds: 60, groups: [{ group: "default/web" }, other] }),
      group,
      endpoint("a", { weight: 7 }),
      endpoint("b", { group: "other", addresses: ["10.0.0.9"], weight: 0 }),
      listener(),
      listener({ name: "again", port: 8081 }),
    ];
    const { config } = await plan(objects);
    expect(config.listeners.map((one) => one.upstream)).toEqual([
      config.upstreams[0]?.key,
      config.upstreams[0]?.key,
    ]);
    expect(config.upstreams).toMatchObject([
      {
        affinitySeconds: 60,
        groups: [
          { weight: 1, hints: { host: "a.example", path: "" } },
          { weight: 3, hints: { host: "", path: "/other" } },
        ],
      },
    ]);
    expect(config.groups).toMatchObject([
      {
        method: "least-connections",
        healthCheck: { protocol: "tcp", intervalMs: 700 },
        servers: [{ key: "default/web/a", host: "10.0.0.1", port: 8080, weight: 7 }],
      },
      {
        method: "weighted-round-robin",
        healthCheck: { protocol: "none" },
        servers: [{ key: "default/other/b", weight: 0 }],
      },
    ]);
  });

  test("that lead nowhere are open to say so; a UDP port is closed to say so", async () => {
    const objects = [
      service({}),
      listener({ name: "a-service", service: "default/none" }),
      listener({ name: "b-port", servicePort: "none", port: 8081 }),
      listener({ name: "c-servers", port: 8082 }),
      listener({ name: "udp", mode: "udp" }),
    ];
    const planned = await plan(objects);
    expect(addressesOf(planned)).toEqual([
      "127.0.0.1:8080 tcp",
      "127.0.0.1:8081 tcp",
      "127.0.0.1:8082 tcp",
    ]);
    expect(reached(planned)).toEqual([[], [], []]);
    expect(planned.notHonoured).toEqual([
      "its service does not exist: Listener default/a-service (Service default/none)",
      'its service has no port of that name: Listener default/b-port (Service default/web, port "none")',
      "its service has no server, or none that is ready: Listener default/c-servers (Service default/web), Listener default/udp (Service default/web)",
    ]);
    // They may be added before what they lead to.
    expect(planned.unserved).toEqual([]);
  });

  test("are closed where a file is missing here; an address may be that of another node", async () => {
    const { config, unserved } = await plan([
      service({}),
      listener({ name: "elsewhere", address: "192.0.2.82" }),
      listener({ name: "proxy", port: 1080, mode: "socks5", usersFile: "/none/users" }),
    ]);
    expect(config.listeners).toEqual([]);
    expect(unserved).toEqual([
      { listener: "default/elsewhere", reason: "its address is none of this machine" },
      {
        listener: "default/proxy",
        reason: expect.stringMatching(/^usersFile \/none\/users: /),
        isClosed: true,
      },
    ]);
  });

  test("are guarded by their security group; one that is missing lets nobody in", async () => {
    const guard = securityGroupSchema.parse({
      kind: "SecurityGroup",
      name: "guard",
      defaultAccess: "allow",
    });
    const objects = [
      service({}),
      endpoint("a"),
      guard,
      listener({ securityGroup: "default/guard" }),
      listener({ name: "missing", port: 8081, securityGroup: "default/none" }),
      listener({ name: "open", port: 8082 }),
    ];
    const { config, notHonoured, unserved } = await plan(objects);
    expect(config.listeners.map(({ access }) => access?.defaultAccess)).toEqual([
      "allow",
      "deny",
      undefined,
    ]);
    expect(notHonoured).toEqual([
      "its security group does not exist, so nobody may call it: Listener default/missing (SecurityGroup default/none)",
    ]);
    expect(unserved).toEqual([]);
  });

  test.each([
    [
      { tls: { certificates: ["default/cert"] } },
      "Certificate default/cert: there is none of that name",
    ],
    [{ mode: "dns", address: "/run/dns", port: 0 }, "DNS needs an IP address to listen on"],
    [{ mode: "socks5", usersFile: "/none" }, "usersFile /none: not read yet"],
    [{ address: "192.0.2.99" }, "its address is none of this machine"],
  ])("that can not be opened are told: %o", async (more, reason) => {
    const planned = await plan([service({}), endpoint("a"), listener(more)]);
    expect(planned.config.listeners).toEqual([]);
    expect(planned.notHonoured).toEqual([`${reason}: Listener default/front`]);
  });

  test("for names tell each endpoint in all of its families, also where none is there", async () => {
    const both = endpoint("a", { addresses: ["10.0.0.1", "fd00::1"] });
    const planned = await plan([service({}), both, listener({ mode: "dns" })]);
    expect(addressesOf(planned)).toEqual(["127.0.0.1:8080 dns"]);
    expect(reached(planned)).toEqual([["10.0.0.1 8080", "fd00::1 8080"]]);
    expect(addressesOf(await plan([service({}), listener({ mode: "dns" })]))).toHaveLength(1);
  });
});

describe("addresses of services", () => {
  const everywhere = {
    type: "LoadBalancer",
    externalIPs: ["198.51.100.7", "198.51.100.99"],
    loadBalancerIPs: ["203.0.113.20"],
    ports: [{ port: 80, targetPort: 8080, nodePort: 30_080 }],
  };

  test("are those of this machine; the others are told", async () => {
    const planned = await plan([NODE, service(everywhere), endpoint("a")]);
    expect(addressesOf(planned)).toEqual([
      "198.51.100.7:80 tcp",
      "203.0.113.20:80 tcp",
      "192.0.2.1:30080 tcp",
      "[2001:db8::1]:30080 tcp",
    ]);
    expect(planned.notHonoured).toEqual([
      "external IPs that are no addresses of this machine: Service default/web",
    ]);
  });

  test.each([
    ["all", ["192.0.2.1", "[2001:db8::1]", "198.51.100.7"]],
    ["localhost", ["127.0.0.1", "[::1]"]],
    [["198.51.100.0/24"], ["198.51.100.7"]],
  ] as const)("node ports answer where the operator says: %s", async (nodePortAddresses, hosts) => {
    const nodePort = service({ type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }] });
    const planned = await plan([NODE, nodePort], { nodePortAddresses });
    expect(addressesOf(planned)).toEqual(hosts.map((host) => `${host}:30080 tcp`));
  });

  test("a node that the state does not know has no node ports, which is told", async () => {
    const planned = await plan([
      service({ type: "NodePort", ports: [{ port: 80, nodePort: 30_080 }] }),
    ]);
    expect(planned.config.listeners).toEqual([]);
    expect(planned.notHonoured).toEqual([
      "node ports do not answer: the state has no addresses of node node-a: Service default/web",
    ]);
  });

  test("external policy Local leaves the endpoints of this node", async () => {
    const objects = [
      NODE,
      service({ externalIPs: ["198.51.100.7"], externalTrafficPolicy: "Local" }),
      endpoint("here"),
      endpoint("there", { addresses: ["10.0.0.2"], node: "node-b" }),
    ];
    expect(reached(await plan(objects))).toEqual([["10.0.0.1 8080"]]);
  });

  test("source ranges guard load-balancer addresses only, and let the node's own calls in", async () => {
    const ranges = { sourceRanges: ["192.0.2.0/24", "fd00::/8"] };
    const { config } = await plan([NODE, service({ ...everywhere, ...ranges })]);
    const guarded = config.listeners.filter(({ access }) => access !== undefined);
    expect(guarded.map(({ key }) => key)).toEqual([
      "load-balancer-ip default/web:80/TCP 203.0.113.20",
    ]);
    expect(guarded[0]?.access).toMatchObject({
      defaultAccess: "deny",
      rules: [
        { network: "192.0.2.0/24", protocol: "TCP", access: "allow" },
        { network: "203.0.113.20", protocol: "TCP", access: "allow" },
      ],
    });
  });

  test("this machine's own calls are not bound by external policy Local", async () => {
    const policy = { externalTrafficPolicy: "Local" };
    const far = endpoint("b", { addresses: ["10.0.0.2"], node: "node-b" });
    const local = [endpoint("a", { addresses: ["10.0.0.1"] }), far];
    const external = service({ externalIPs: ["198.51.100.7"], ...policy });
    const objects = [NODE, external, ...local, listener({ address: "192.0.2.1" })];
    const { config } = await plan(objects);
    expect(config.listeners).toHaveLength(2);
    for (const one of config.listeners) {
      expect(serversOf(config, one)).toEqual(["10.0.0.1 8080"]);
      const [exception, ...more] = one.exceptions;
      expect(more).toEqual([]);
      expect(exception?.networks).toEqual([
        "192.0.2.1",
        "198.51.100.7",
        "203.0.113.20",
        "127.0.0.1",
      ]);
      const upstream = exception?.upstream ?? "";
      expect(serversOf(config, { ...one, upstream })).toEqual(["10.0.0.1 8080", "10.0.0.2 8080"]);
    }
    const { config: unbound } = await plan([NODE, service({}), ...local, listener()]);
    expect(unbound.listeners.map(({ exceptions }) => exceptions)).toEqual([[]]);
  });

  test("what a proxy can not do is told, a line for each reason", async () => {
    const clusterIPs = Array.from({ length: 7 }, (_, index) =>
      service({ name: `s${index}`, type: "ClusterIP", clusterIPs: [`10.96.0.${index + 1}`] }),
    );
    const sctp = service({
      externalIPs: ["198.51.100.7"],
      edgeIPs: [{ address: "10.30.0.1" }],
      ports: [{ port: 80, protocol: "SCTP" }],
    });
    const planned = await plan([NODE, ...clusterIPs, sctp]);
    expect(planned.config.listeners).toEqual([]);
    const [first, ...others] = planned.notHonoured;
    expect(first).toMatch(/^cluster IPs are led .*: (Service default\/s\d, ){4}.* and 2 more$/);
    expect(others).toEqual([
      "SCTP is not proxied: Service default/web",
      "edge addresses need the edge backend: Service default/web",
    ]);
  });

  test("UDP beside TCP on one port; of two that want the same, the service wins over a listener", async () => {
    const ports = [
      { name: "tcp", port: 80 },
      { name: "udp", port: 80, protocol: "UDP" },
    ];
    const objects = [
      NODE,
      service({ externalIPs: ["198.51.100.7"], ports }),
      endpoint("a", {
        ports: [
          { name: "tcp", port: 1 },
          { name: "udp", port: 2 },
        ],
      }),
      listener({ address: "198.51.100.7", port: 80, servicePort: "tcp" }),
    ];
    const planned = await plan(objects);
    expect(addressesOf(planned)).toEqual(["198.51.100.7:80 tcp", "198.51.100.7:80 udp"]);
    expect(reached(planned)).toEqual([["10.0.0.1 1"], ["10.0.0.1 2"]]);
    expect(planned.notHonoured).toEqual([
      "198.51.100.7:80 is taken by listener external-ip default/web:80/TCP 198.51.100.7: listener default/front",
    ]);
  });
});
