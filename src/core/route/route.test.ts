import { describe, expect, test } from "vitest";
import { type Endpoint, endpointSchema } from "../model/endpoint.ts";
import { type Group, groupSchema } from "../model/group.ts";
import { listenerSchema } from "../model/listener.ts";
import { nodeSchema } from "../model/node.ts";
import type { ModelObject } from "../model/object.ts";
import { NO_HINTS, type RouteHints } from "../model/route-hints.ts";
import { securityGroupSchema } from "../model/security-group.ts";
import { type Service, serviceSchema } from "../model/service.ts";
import type { Observed } from "./observed.ts";
import type { Packet } from "./packet.ts";
import { createRouter, route } from "./route.ts";
import { DEFAULT_ROUTE_POLICY, type RoutePolicy } from "./route-policy.ts";
import { globalStateOf } from "./scenarios/scenario.ts";
import type { Verdict } from "./verdict.ts";

const NODE = nodeSchema.parse({
  kind: "Node",
  name: "here",
  zone: "a",
  addresses: ["192.168.0.1"],
  subnets: ["10.1.0.0/24"],
});

function service(more: Readonly<Record<string, unknown>> = {}): Service {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: ["10.96.0.1"],
    ports: [{ name: "http", port: 80, targetPort: 8080 }],
    ...more,
  });
}

function endpoint(name: string, address: string, more: Partial<Endpoint> = {}): Endpoint {
  return endpointSchema.parse({
    kind: "Endpoint",
    name,
    group: "web",
    addresses: [address],
    ...more,
  });
}

function group(name: string, more: Partial<Group> = {}): Group {
  return groupSchema.parse({ kind: "Group", name, ...more });
}

const A = endpoint("a", "10.1.0.2", { node: "here" });
const B = endpoint("b", "10.1.1.2", { node: "there" });
const CALL: Packet = {
  protocol: "TCP",
  src: "10.1.0.9",
  dst: "10.96.0.1",
  dstPort: 80,
  from: "workload",
};

interface Question {
  readonly objects?: readonly ModelObject[];
  readonly packet?: Partial<Packet>;
  readonly policy?: Partial<RoutePolicy>;
  readonly observed?: Observed;
}

function ask({ objects = [service(), A, B], packet, policy, observed }: Question): Verdict {
  return route(
    { global: globalStateOf([NODE, ...objects]), node: "here" },
    { ...CALL, ...packet },
    { ...DEFAULT_ROUTE_POLICY, ...policy },
    observed,
  );
}

/** Name of the endpoint to its share. */
function sharesOf(verdict: Verdict): Readonly<Record<string, number>> | string {
  if (verdict.kind !== "endpoints") return verdict.kind;
  return Object.fromEntries(
    verdict.candidates.map(({ endpoint, probability }) => [endpoint.name, probability]),
  );
}

function othersOf(verdict: Verdict): Readonly<Record<string, string>> {
  return Object.fromEntries(verdict.others.map(({ endpoint, reason }) => [endpoint.name, reason]));
}

describe("affinity", () => {
  const sticky = [service({ affinitySeconds: 60 }), A, B];
  const record = {
    service: "default/web",
    port: "http",
    client: CALL.src,
    endpoint: "default/web/b",
    ageSeconds: 59,
  };

  test("binds a client to its endpoint, and says so for the others", () => {
    const verdict = ask({ objects: sticky, observed: { affinity: [record] } });
    expect(sharesOf(verdict)).toEqual({ b: 1 });
    expect(othersOf(verdict)).toEqual({
      a: "session affinity keeps the client at default/web/b",
    });
  });

  test("ends when the time-out is reached", () => {
    const observed = { affinity: [{ ...record, ageSeconds: 60 }] };
    expect(sharesOf(ask({ objects: sticky, observed }))).toEqual({ a: 0.5, b: 0.5 });
  });

  test("follows the youngest of several records", () => {
    const affinity = [record, { ...record, endpoint: "default/web/a", ageSeconds: 1 }];
    expect(sharesOf(ask({ objects: sticky, observed: { affinity } }))).toEqual({ a: 1 });
  });

  test("is of one port: the record of another does not count", () => {
    const observed = { affinity: [{ ...record, port: "https" }] };
    expect(sharesOf(ask({ objects: sticky, observed }))).toEqual({ a: 0.5, b: 0.5 });
  });

  test("is nothing to a service without it", () => {
    expect(sharesOf(ask({ observed: { affinity: [record] } }))).toEqual({ a: 0.5, b: 0.5 });
  });

  test("does not hold a client at an endpoint that drains", () => {
    const objects = [service({ affinitySeconds: 60 }), A, endpoint("b", "10.1.1.2", { weight: 0 })];
    const verdict = ask({ objects, observed: { affinity: [record] } });
    expect(sharesOf(verdict)).toEqual({ a: 1 });
    expect(othersOf(verdict)).toEqual({ b: "its weight is 0: it drains" });
  });
});

describe("groups", () => {
  const hints = (more: Partial<RouteHints>): RouteHints => ({ ...NO_HINTS, ...more });
  const X = endpoint("x", "10.2.0.1", { group: "g1" });
  const Y = endpoint("y", "10.2.0.2", { group: "g1", weight: 3 });
  const Z = endpoint("z", "10.2.0.3", { group: "g2" });

  function ofGroups(first: Readonly<object>, second: Readonly<object>): readonly ModelObject[] {
    const groups = [
      { group: "default/g1", ...first },
      { group: "default/g2", ...second },
    ];
    return [service({ groups }), X, Y, Z];
  }

  test("share by their weights, and within by the weights of endpoints", () => {
    const verdict = ask({ objects: ofGroups({ weight: 1 }, { weight: 4 }) });
    expect(sharesOf(verdict)).toEqual({ x: 0.05, y: expect.closeTo(0.15, 9), z: 0.8 });
  });

  test("of weight 0 drain", () => {
    const verdict = ask({ objects: ofGroups({ weight: 0 }, {}) });
    expect(sharesOf(verdict)).toEqual({ z: 1 });
    expect(othersOf(verdict)["x"]).toBe("the weight of its group default/g1 is 0: it drains");
  });

  test("without usable endpoints leave their share to the others", () => {
    const health = new Map([["default/g2/z", false]]);
    const verdict = ask({ objects: ofGroups({}, {}), observed: { health } });
    expect(sharesOf(verdict)).toEqual({ x: 0.25, y: 0.75 });
    expect(othersOf(verdict)).toEqual({ z: "it fails its health checks" });
  });

  test("are chosen by what the request says", () => {
    const objects = ofGroups(
      { hints: hints({ host: "a.example" }) },
      { hints: hints({ host: "*" }) },
    );
    const to = (host: string) => sharesOf(ask({ objects, packet: { hint: { host } } }));
    expect(to("a.example")).toEqual({ x: 0.25, y: 0.75 });
    expect(to("b.example")).toEqual({ z: 1 });
  });

  test("are all used where the request says nothing or nothing suits it", () => {
    const objects = ofGroups({ hints: hints({ host: "a.example" }) }, {});
    const everyone = { x: 0.125, y: 0.375, z: 0.5 };
    expect(sharesOf(ask({ objects }))).toEqual(everyone);
    expect(sharesOf(ask({ objects, packet: { hint: { host: "b.example" } } }))).toEqual(everyone);
  });

  test("have hints of their own, over which those of the attachment win", () => {
    const own = group("g2", { hints: hints({ host: "a.example" }) });
    const packet = { hint: { host: "a.example" } };
    expect(sharesOf(ask({ objects: [...ofGroups({}, {}), own], packet }))).toEqual({ z: 1 });
    const overruled = ofGroups({}, { hints: hints({ host: "b.example" }) });
    expect(sharesOf(ask({ objects: [...overruled, own], packet }))).toEqual({
      x: 0.125,
      y: 0.375,
      z: 0.5,
    });
  });

  test("that suit best but have nobody are passed over", () => {
    const objects = ofGroups(
      { hints: hints({ host: "*" }) },
      { hints: hints({ host: "a.example" }) },
    );
    const health = new Map([["default/g2/z", false]]);
    const packet = { hint: { host: "a.example" } };
    expect(sharesOf(ask({ objects, packet, observed: { health } }))).toEqual({ x: 0.25, y: 0.75 });
  });

  describe("that suit best but have nobody, behind a listener", () => {
    const objects = ofGroups(
      { hints: hints({ host: "*" }) },
      { hints: hints({ host: "a.example" }) },
    );
    const observed = { health: new Map([["default/g2/z", false]]) };

    function askListener(host: string, more: Readonly<object>): Verdict {
      const place = { name: "front", address: "0.0.0.0", port: 9000, service: "default/web" };
      const front = listenerSchema.parse({ kind: "Listener", ...place, ...more });
      const packet = { dst: "192.168.0.1", dstPort: 9000, hint: { host } };
      return ask({ objects: [...objects, front], packet, observed });
    }

    test.each([{}, { mode: "http" }, { mode: "socks5", fallsBack: true }])(
      "are passed over with %j",
      (more) => {
        expect(sharesOf(askListener("a.example", more))).toEqual({ x: 0.25, y: 0.75 });
      },
    );

    test.each([{ fallsBack: false }, { mode: "socks5" }])("end the call with %j", (more) => {
      const verdict = askListener("a.example", more);
      expect(verdict.kind).toBe("reject");
      expect(verdict.reasons.at(-1)).toContain("does not fall back");
      expect(sharesOf(askListener("b.example", more))).toEqual({ x: 0.25, y: 0.75 });
    });
  });

  test("of the same score: the first", () => {
    const same = { hints: hints({ host: "a.example" }) };
    const packet = { hint: { host: "a.example" } };
    expect(sharesOf(ask({ objects: ofGroups(same, same), packet }))).toEqual({ x: 0.25, y: 0.75 });
  });
});

describe("health", () => {
  const health = (a: boolean, b: boolean): Observed => ({
    health: new Map([
      ["default/web/a", a],
      ["default/web/b", b],
    ]),
  });

  test("leaves out who fails", () => {
    expect(sharesOf(ask({ observed: health(true, false) }))).toEqual({ a: 1 });
  });

  test("of nobody is a reject: the node knows that it has no one to try", () => {
    expect(ask({ observed: health(false, false) }).kind).toBe("reject");
  });
});

describe("hairpin", () => {
  test("is masqueraded for the endpoint that calls itself, and for no other", () => {
    const verdict = ask({ packet: { src: "10.1.0.2" } });
    expect(verdict).toMatchObject({
      candidates: [
        { address: "10.1.0.2", masquerade: true },
        { address: "10.1.1.2", masquerade: false },
      ],
    });
  });
});

describe("an endpoint at an address of the node", () => {
  const objects = [service({ externalIPs: ["203.0.113.1"] }), endpoint("own", "192.168.0.1")];
  const toOutside = { dst: "203.0.113.1", from: "outside", src: "172.16.0.7" } as const;

  test.each([
    ["keeps the source of others, since their packets do not leave it", toOutside, false],
    ["does not keep the node's own", { src: "192.168.0.1", from: "node" }, true],
  ] as const)("%s", (_, packet, masquerade) => {
    const policy: Partial<RoutePolicy> = { masqueradeAll: true };
    const verdict = ask({ objects, packet, policy });
    expect(verdict).toMatchObject({ candidates: [{ address: "192.168.0.1", masquerade }] });
    const reason = "source kept to 192.168.0.1: it is this node's own";
    expect(verdict.reasons.includes(reason)).toBe(!masquerade);
  });
});

describe("ports", () => {
  const ports = [
    { name: "http", port: 80, targetPortName: "web" },
    { name: "dns", port: 53, protocol: "UDP", targetPort: 5353 },
  ];
  const named = endpoint("named", "10.1.0.5", { ports: [{ name: "web", port: 8000 }] });

  test("without a name are resolved by the name of the target port", () => {
    const nameless = [{ port: 80, targetPortName: "web" }];
    const verdict = ask({ objects: [service({ ports: nameless }), named] });
    expect(verdict).toMatchObject({ candidates: [{ address: "10.1.0.5", targetPort: 8000 }] });
  });

  test("that no endpoint serves are rejected, with the reason", () => {
    const packet = { protocol: "UDP", dstPort: 53 } as const;
    const verdict = ask({ objects: [service({ ports }), named], packet });
    expect(verdict.kind).toBe("reject");
    expect(othersOf(verdict)).toEqual({ named: "it does not serve this port" });
  });

  test("that the service of a cluster IP lacks are rejected", () => {
    const verdict = ask({ packet: { dstPort: 81 } });
    expect(verdict).toMatchObject({
      kind: "reject",
      matched: { type: "cluster-ip", service: "default/web", port: undefined },
    });
    expect(verdict.reasons.at(-1)).toBe("rejected: the service has no such port");
  });
});

describe("an address with several meanings", () => {
  const twoMeanings = [
    service({ externalIPs: ["192.168.0.1"] }),
    serviceSchema.parse({ kind: "Service", name: "other", ports: [{ port: 90, nodePort: 80 }] }),
    listenerSchema.parse({
      kind: "Listener",
      name: "front",
      address: "192.168.0.1",
      port: 80,
      service: "default/other",
    }),
    A,
  ];

  test("is a service's own address before it is a node port, and that before a listener", () => {
    const packet = { dst: "192.168.0.1" };
    expect(ask({ objects: twoMeanings, packet })).toMatchObject({
      matched: { type: "external-ip" },
    });
    const withoutAddress = [service(), ...twoMeanings.slice(1)];
    expect(ask({ objects: withoutAddress, packet })).toMatchObject({
      matched: { type: "node-port", service: "default/other" },
    });
    const policy = { nodePortAddresses: "localhost" } as const;
    expect(ask({ objects: withoutAddress, packet, policy })).toMatchObject({
      matched: { type: "listen-address", listener: "default/front" },
    });
  });
});

describe("a listener of mode dns", () => {
  const rule = (protocol: "TCP" | "UDP") => ({
    name: protocol.toLowerCase(),
    network: "0.0.0.0/0",
    protocol,
    access: "deny" as const,
  });
  const dns = (securityGroup: string) =>
    listenerSchema.parse({
      kind: "Listener",
      name: "names",
      mode: "dns",
      address: "192.168.0.1",
      port: 53,
      service: "default/web",
      securityGroup,
    });
  const guarded = [
    service(),
    dns("default/guard"),
    securityGroupSchema.parse({
      kind: "SecurityGroup",
      name: "guard",
      defaultAccess: "allow",
      rules: [rule("TCP")],
    }),
    A,
  ];
  const packets = (["UDP", "TCP"] as const).map((protocol) => ({
    dst: "192.168.0.1",
    dstPort: 53,
    protocol,
  }));

  test("is called over UDP and over TCP", () => {
    for (const packet of packets) {
      expect(ask({ objects: [service(), dns(""), A], packet })).toMatchObject({
        kind: "endpoints",
        matched: { type: "listen-address", listener: "default/names" },
      });
    }
  });

  test.each([
    ["deny", "allow", "drop"],
    ["allow", "deny", "endpoints"],
  ] as const)("of rules for one network the first counts: %s, then %s", (first, second, kind) => {
    const rules = [first, second].map((access) => ({ ...rule("UDP"), name: access, access }));
    const guard = securityGroupSchema.parse({
      kind: "SecurityGroup",
      name: "guard",
      defaultAccess: "allow",
      rules,
    });
    const objects = [service(), dns("default/guard"), guard, A];
    const packet = { dst: "192.168.0.1", dstPort: 53, protocol: "UDP" as const };
    expect(ask({ objects, packet }).kind).toBe(kind);
  });

  test("is guarded by the rules for the protocol of the call", () => {
    const kinds = packets.map((packet) => ask({ objects: guarded, packet }).kind);
    expect(kinds).toEqual(["endpoints", "drop"]);
  });
});

describe("a listener on a service with several ports", () => {
  const ports = [
    { name: "http", port: 80, targetPort: 8080 },
    { name: "https", port: 443, targetPort: 8443 },
  ];
  const front = (servicePort: string): ModelObject =>
    listenerSchema.parse({
      kind: "Listener",
      name: "front",
      address: "0.0.0.0",
      port: 9000,
      service: "default/web",
      servicePort,
    });
  const packet = { dst: "192.168.0.1", dstPort: 9000 };

  test("leads to the one that it names", () => {
    const verdict = ask({ objects: [service({ ports }), A, front("https")], packet });
    expect(verdict).toMatchObject({ kind: "endpoints", candidates: [{ targetPort: 8443 }] });
  });

  test("leads nowhere where it names none", () => {
    const verdict = ask({ objects: [service({ ports }), A, front("")], packet });
    expect(verdict.kind).toBe("reject");
  });
});

test("an endpoint with a host name is used by that name", () => {
  const byName = endpointSchema.parse({
    kind: "Endpoint",
    name: "named",
    group: "web",
    hostName: "db.example",
  });
  const verdict = ask({ objects: [service(), byName] });
  expect(verdict).toMatchObject({ candidates: [{ address: "db.example", targetPort: 8080 }] });
});

test("a node that the state does not know is nobody's place", () => {
  const objects = [service({ internalTrafficPolicy: "Local" }), A, B];
  const state = { global: globalStateOf(objects), node: "unknown" };
  expect(route(state, CALL, DEFAULT_ROUTE_POLICY).kind).toBe("drop");
});

test("the origin of a packet is told from its source address", () => {
  const outer = endpoint("outer", "172.16.0.7", { node: "here" });
  const { originOf } = createRouter({ global: globalStateOf([NODE, outer, B]), node: "here" });
  const origins = ["192.168.0.1", "127.0.0.1", "::1", "172.16.0.7", "10.1.0.77", "10.1.1.2"];
  expect(origins.map(originOf)).toEqual([
    "node",
    "node",
    "node",
    "workload",
    "workload",
    "outside",
  ]);
});
