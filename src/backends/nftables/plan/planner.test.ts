import { describe, expect, test } from "vitest";
import type { Family } from "../../../core/model/address.ts";
import { groupSchema } from "../../../core/model/group.ts";
import { listenerSchema } from "../../../core/model/listener.ts";
import { nodeSchema } from "../../../core/model/node.ts";
import type { ModelObject } from "../../../core/model/object.ts";
import { securityGroupSchema } from "../../../core/model/security-group.ts";
import { createFullStateSink } from "../../../core/sinks/fullstate.ts";
import { KERNEL_SETS } from "../../kernel-options.ts";
import { planSettingsOf } from "../plan-settings.ts";
import { endpoint, Feed, NODE, NODE_NAME, optionsOf, service } from "../samples.fixture.ts";
import { Planner } from "./planner.ts";

/** A planner that is fed with objects, and says what it would do in the table for IPv4. */
class Rig {
  readonly planner: Planner;
  readonly #feed: Feed;

  constructor(flags: Readonly<Record<string, unknown>> = {}) {
    this.planner = new Planner(planSettingsOf(optionsOf(flags), NODE_NAME));
    const { planner } = this;
    const sink = createFullStateSink({
      waitRequest: () => ({ nodeName: NODE_NAME, sets: KERNEL_SETS }),
      apply: (state, changed) => planner.update(state, changed),
    });
    this.#feed = new Feed(sink);
  }

  /** What has to be done for these objects, which are all there are; and it is done. */
  async change(...objects: readonly ModelObject[]): Promise<string> {
    await this.#feed.apply(NODE, ...objects);
    const [v4] = this.planner.tables;
    const text = v4?.changesScript() ?? "";
    for (const table of this.planner.tables) table.commit();
    return text;
  }

  /** The chain that packets to a key meet, and all that come behind it. */
  chainsFrom(key: string): Readonly<Record<string, readonly string[]>> {
    const [v4] = this.planner.tables;
    const chains = new Map([...(v4?.chains() ?? [])].map((chain) => [chain.name, chain.rules]));
    const met: Record<string, readonly string[]> = {};
    const walk = (verdict: string): void => {
      const name = / ?goto (\S+)$/.exec(verdict)?.[1];
      if (name === undefined || name === "refuse" || name in met) return;
      met[name] = chains.get(name) ?? [];
      for (const rule of met[name]) walk(rule);
    };
    walk(this.elements("services").get(key) ?? "");
    return met;
  }

  elements(container: string, family: Family = "v4"): ReadonlyMap<string, string> {
    const table = this.planner.tables.find(({ facts }) => facts.family === family);
    const elements = [...(table?.elements() ?? [])].filter((one) => one.container === container);
    return new Map(elements.map(({ key, value = "" }) => [key, value]));
  }
}

const lines = (text: string) => text.split("\n").filter((line) => line !== "");

describe("one transaction says only what changed", () => {
  test("a service comes", async () => {
    const rig = new Rig();
    await rig.change();
    expect(lines(await rig.change(service(), endpoint(1), endpoint(2)))).toEqual([
      'add chain ip portolan random-2 { comment "one of 2 slots, at random" ; }',
      "flush chain ip portolan random-2",
      "add rule ip portolan random-2 meta l4proto { tcp, udp, sctp } meta priority set numgen random mod 2 offset 1 dnat ip to ip daddr . meta l4proto . th dport . meta priority map @endpoints",
      "add rule ip portolan random-2 meta l4proto { tcp, udp, sctp } meta priority set 0:1 dnat ip to ip daddr . meta l4proto . th dport . meta priority map @endpoints",
      "add rule ip portolan random-2 meta priority set 8000:0",
      'add element ip portolan services { 10.96.0.1 . tcp . 80 comment "default/web" : goto random-2 }',
      "add element ip portolan endpoints { 10.96.0.1 . tcp . 80 . 0:1 : 10.1.0.1 . 8080, 10.96.0.1 . tcp . 80 . 0:2 : 10.1.0.2 . 8080 }",
      "add element ip portolan cluster-ips { 10.96.0.1 }",
    ]);
  });

  test("an endpoint is replaced by another: its slot alone changes", async () => {
    const rig = new Rig();
    await rig.change(service(), endpoint(1), endpoint(2), endpoint(3));
    expect(lines(await rig.change(service(), endpoint(1), endpoint(3), endpoint(4)))).toEqual([
      "delete element ip portolan endpoints { 10.96.0.1 . tcp . 80 . 0:2 }",
      "add element ip portolan endpoints { 10.96.0.1 . tcp . 80 . 0:2 : 10.1.0.4 . 8080 }",
    ]);
  });

  test("nothing changes", async () => {
    const rig = new Rig();
    await rig.change(service(), endpoint(1));
    expect(await rig.change(service(), endpoint(1))).toBe("");
  });

  test("chains that nobody needs any more go with the next change", async () => {
    const rig = new Rig();
    await rig.change(service(), endpoint(1), endpoint(2));
    expect(await rig.change(service(), endpoint(1))).not.toContain("delete chain");
    const next = lines(await rig.change(service(), endpoint(3)));
    expect(next.slice(-2)).toEqual([
      "flush chain ip portolan random-2",
      "delete chain ip portolan random-2",
    ]);
  });

  test("an address goes over from one service to another", async () => {
    const rig = new Rig();
    await rig.change(service(), endpoint(1));
    const text = await rig.change(service({ name: "other" }));
    expect(lines(text)).toEqual([
      "delete element ip portolan services { 10.96.0.1 . tcp . 80 }",
      "delete element ip portolan endpoints { 10.96.0.1 . tcp . 80 . 0:1 }",
      'add element ip portolan services { 10.96.0.1 . tcp . 80 comment "default/other" : goto refuse }',
    ]);
  });

  test("other addresses of the node change node ports", async () => {
    const rig = new Rig();
    const ports = [{ port: 80, nodePort: 30_080, targetPort: 8080 }];
    await rig.change(service({ ports }), endpoint(1));
    expect([...rig.elements("services").keys()]).toContain("192.0.2.1 . tcp . 30080");
    const moved = nodeSchema.parse({ kind: "Node", name: NODE_NAME, addresses: ["192.0.2.9"] });
    await rig.change(service({ ports }), endpoint(1), moved);
    expect([...rig.elements("services").keys()]).toEqual([
      "10.96.0.1 . tcp . 80",
      "192.0.2.9 . tcp . 30080",
    ]);
  });

  test.each([
    ["v4", ["192.0.2.9", "fd00::1"], "192.0.2.9 . tcp . 30080"],
    ["v6", ["192.0.2.1", "fd00::9"], "fd00::9 . tcp . 30080"],
  ] as const)("also where those of %s alone are others", async (family, addresses, key) => {
    const rig = new Rig();
    const clusterIPs = ["10.96.0.1", "fd00:96::1"];
    const web = service({ clusterIPs, ports: [{ port: 80, nodePort: 30_080, targetPort: 8080 }] });
    await rig.change(web, endpoint(1));
    await rig.change(
      web,
      endpoint(1),
      nodeSchema.parse({ kind: "Node", name: NODE_NAME, addresses }),
    );
    const nodePorts = [...rig.elements("services", family).keys()].slice(1);
    expect(nodePorts).toEqual([key]);
  });
});

describe("where packets go", () => {
  test("none anywhere is refused, none here is dropped", async () => {
    const rig = new Rig();
    await rig.change(
      service(),
      service({ name: "b", clusterIPs: ["10.96.0.2"], internalTrafficPolicy: "Local" }),
      endpoint(1, { name: "b-1", group: "b" }),
    );
    expect(Object.fromEntries(rig.elements("services"))).toEqual({
      "10.96.0.1 . tcp . 80": "goto refuse",
      "10.96.0.2 . tcp . 80": "drop",
    });
  });

  test("external traffic policy Local", async () => {
    const rig = new Rig({ clusterCidr: "10.0.0.0/8" });
    await rig.change(
      service({ externalIPs: ["203.0.113.1"], externalTrafficPolicy: "Local" }),
      endpoint(1, { node: NODE_NAME }),
      endpoint(2),
    );
    expect(rig.chainsFrom("203.0.113.1 . tcp . 80")["external-random-2-or-random-1-local"]).toEqual(
      [
        "ip saddr 10.0.0.0/8 goto random-2",
        "fib saddr type local meta mark set meta mark | 0x00004000 goto random-2",
        "goto random-1-local",
      ],
    );
    expect(Object.fromEntries(rig.elements("local-endpoints"))).toEqual({
      "203.0.113.1 . tcp . 80 . 0:1": "10.1.0.1 . 8080",
    });
    expect([...rig.elements("hairpins").keys()]).toEqual(["10.1.0.1 . 10.1.0.1"]);
  });

  test.each([
    [{}, undefined],
    [{ masqueradeAll: true }, "meta mark set meta mark | 0x00004000"],
    [
      { clusterCidr: "10.0.0.0/8", iptablesMasqueradeBit: 0 },
      "ip saddr != 10.0.0.0/8 meta mark set meta mark | 0x00000001",
    ],
    [
      { detectLocalMode: "node-cidr" },
      "ip saddr != 10.1.0.0/24 meta mark set meta mark | 0x00004000",
    ],
    [
      { detectLocalMode: "interface", podInterfaceNamePrefix: "cali,veth" },
      'iifname != "cali*" iifname != "veth*" meta mark set meta mark | 0x00004000',
    ],
  ])("masquerading of cluster IPs with %j", async (flags, rule) => {
    const rig = new Rig(flags);
    await rig.change(service(), endpoint(1));
    expect(rig.chainsFrom("10.96.0.1 . tcp . 80")["internal-random-1"]?.[0]).toBe(rule);
  });

  test("source ranges", async () => {
    const rig = new Rig();
    await rig.change(
      service({
        loadBalancerIPs: ["203.0.113.1"],
        sourceRanges: ["192.0.2.0/24", "192.0.2.7", "fd00::/8"],
      }),
      endpoint(1),
    );
    expect(rig.chainsFrom("203.0.113.1 . tcp . 80")["allowed-external-random-1"]).toEqual([
      "ip daddr . meta l4proto . th dport . ip saddr @allowed goto external-random-1",
      "drop",
    ]);
    expect([...rig.elements("allowed").keys()]).toEqual([
      "203.0.113.1 . tcp . 80 . 192.0.2.0/24",
      "203.0.113.1 . tcp . 80 . 203.0.113.1",
    ]);
  });

  test("affinity remembers a number that is the endpoint's own", async () => {
    const rig = new Rig();
    await rig.change(service({ affinitySeconds: 10_800 }), endpoint(1), endpoint(2));
    const before = rig.elements("endpoints");
    await rig.change(service({ affinitySeconds: 10_800 }), endpoint(2));
    const [[key, target] = ["", ""], ...others] = rig.elements("endpoints");
    expect([target, others]).toEqual(["10.1.0.2 . 8080", []]);
    expect(before.get(key)).toBe(target);
    const id = key.slice("10.96.0.1 . tcp . 80 . ".length);
    expect(Object.fromEntries(rig.elements("choices"))).toEqual({
      "10.96.0.1 . tcp . 80 . 0:1": id,
    });
  });

  test("who is remembered is sent there first, and remembered for as long again", async () => {
    const rig = new Rig();
    await rig.change(service({ affinitySeconds: 600 }), endpoint(1));
    const [first] = rig.chainsFrom("10.96.0.1 . tcp . 80")["random-1-sticky-10m"] ?? [];
    const client = "ip saddr . ip daddr . meta l4proto . th dport";
    expect(first).toContain(
      `meta priority set ${client} map @remembered update @remembered { ${client} timeout 10m : meta priority } dnat`,
    );
  });

  test("who is remembered at an endpoint that went is forgotten before the new one is remembered", async () => {
    const rig = new Rig();
    await rig.change(service({ affinitySeconds: 600 }), endpoint(1), endpoint(2));
    const chain = rig.chainsFrom("10.96.0.1 . tcp . 80")["random-2-sticky-10m"] ?? [];
    const client = "ip saddr . ip daddr . meta l4proto . th dport";
    const forgets = chain.filter((rule) => rule.includes("delete @remembered"));
    expect(forgets).toHaveLength(2);
    for (const rule of forgets) {
      expect(rule).toContain(
        `delete @remembered { ${client} : meta priority } update @remembered { ${client} timeout 10m : meta priority } dnat`,
      );
    }
  });

  test("who can not be remembered, as the memory is full, is sent all the same", async () => {
    const rig = new Rig();
    await rig.change(service({ affinitySeconds: 600 }), endpoint(1));
    const chain = rig.chainsFrom("10.96.0.1 . tcp . 80")["random-1-sticky-10m"] ?? [];
    expect(chain.slice(2)).toEqual([
      "meta l4proto { tcp, udp, sctp } meta priority set 0:1 meta priority set ip daddr . meta l4proto . th dport . meta priority map @choices dnat ip to ip daddr . meta l4proto . th dport . meta priority map @endpoints",
      "meta priority set 8000:0",
    ]);
  });

  test("turns have a counter for each address, other methods share a chain", async () => {
    const rig = new Rig();
    const group = (method: string) => groupSchema.parse({ kind: "Group", name: "web", method });
    await rig.change(service(), endpoint(1), endpoint(2), group("round-robin"));
    expect(rig.chainsFrom("10.96.0.1 . tcp . 80")).toHaveProperty([
      "round-robin-2-for-10.96.0.1-tcp-80",
    ]);
    await rig.change(service(), endpoint(1), endpoint(2), group("source-hash"));
    expect(rig.chainsFrom("10.96.0.1 . tcp . 80")).toHaveProperty(["source-hash-2"]);
    await rig.change(service(), endpoint(1), endpoint(2), group("least-connections"));
    expect(rig.chainsFrom("10.96.0.1 . tcp . 80")).toHaveProperty(["random-2"]);
    expect([...rig.planner.limits().values()].flat()).toEqual([
      "balancing by least-connections needs a proxy: endpoints are chosen at random",
    ]);
  });
});

describe("listeners", () => {
  const listener = (more: object = {}) =>
    listenerSchema.parse({
      kind: "Listener",
      name: "front",
      address: "192.0.2.1",
      port: 8888,
      service: "default/web",
      ...more,
    });

  test("give way to the addresses of services", async () => {
    const rig = new Rig();
    const external = service({ externalIPs: ["192.0.2.1"] });
    await rig.change(external, endpoint(1), listener({ port: 80 }));
    expect(await rig.change(service(), endpoint(1), listener({ port: 80 }))).toContain(
      'add element ip portolan services { 192.0.2.1 . tcp . 80 comment "listener default/front" : goto external-random-1 }',
    );
  });

  test("follow their service, and the security group that guards them", async () => {
    const rig = new Rig();
    const all = { name: "all", network: "10.0.0.0/8", access: "allow", protocol: "TCP" };
    const one = { name: "one", network: "10.1.2.3/32", access: "deny", protocol: "TCP" };
    const guardOf = (...rules: readonly object[]) =>
      securityGroupSchema.parse({
        kind: "SecurityGroup",
        name: "guard",
        defaultAccess: "deny",
        rules,
      });
    const guard = guardOf(all, one);
    const guarded = listener({ securityGroup: "default/guard" });
    await rig.change(service(), guarded, guard);
    expect(rig.chainsFrom("192.0.2.1 . tcp . 8888")).toEqual({
      "guard-192.0.2.1-tcp-8888": [
        "ip saddr 10.1.2.3 drop",
        "ip saddr 10.0.0.0/8 goto refuse",
        "drop",
      ],
    });
    await rig.change(service(), endpoint(1), guarded, guard);
    expect(rig.chainsFrom("192.0.2.1 . tcp . 8888")).toHaveProperty(["external-random-1"]);
    await rig.change(service(), endpoint(1), guarded, guardOf(all));
    expect(rig.chainsFrom("192.0.2.1 . tcp . 8888")["guard-192.0.2.1-tcp-8888"]).toEqual([
      "ip saddr 10.0.0.0/8 goto external-random-1",
      "drop",
    ]);
  });

  test("on any address are on those of the node and on loopback, which is guarded", async () => {
    const rig = new Rig();
    const text = await rig.change(service(), listener({ address: "0.0.0.0" }));
    expect([...rig.elements("services").keys()].sort()).toEqual([
      "10.96.0.1 . tcp . 80",
      "127.0.0.1 . tcp . 8888",
      "192.0.2.1 . tcp . 8888",
    ]);
    expect(text).toContain("add chain ip portolan loopback-guard { type filter hook input");
    await rig.change(service());
    expect(await rig.change(service(), endpoint(1))).toContain(
      "delete chain ip portolan loopback-guard",
    );
  });

  test("that need a proxy are said", async () => {
    const rig = new Rig();
    await rig.change(service(), listener({ mode: "http" }));
    expect([...rig.planner.limits()]).toEqual([
      ["Listener default/front", ["listeners of mode http need a proxy"]],
    ]);
  });
});
