import { expect, test } from "vitest";
import { CoreError } from "../errors.ts";
import { KINDS } from "./object.ts";
import { parseKind, parseObject } from "./parse.ts";

/** The problems that parsing finds, as `path: expected`. */
function problemsOf(raw: unknown): string[] {
  try {
    parseObject(raw);
  } catch (error) {
    if (!(error instanceof CoreError)) throw error;
    expect(error.code).toBe("ERR_STATE_INVALID");
    return error.message.split("\n");
  }
  return [];
}

const MINIMAL = {
  Service: { name: "web" },
  Listener: { name: "web", address: "127.0.0.1", port: 80, service: "default/web" },
  Group: { name: "web" },
  Endpoint: { name: "a", group: "web", addresses: ["10.0.0.1"] },
  Node: { name: "n1" },
  SecurityGroup: { name: "office", defaultAccess: "deny" },
  Certificate: { name: "c", certFiles: ["c.pem"], keyFile: "k.pem" },
};

test.each(KINDS)(
  "a minimal %s is completed by defaults, and what comes out parses again",
  (kind) => {
    const object = parseKind(kind, MINIMAL[kind]);
    expect(object.kind).toBe(kind);
    expect(parseObject(object)).toEqual(object);
  },
);

test.each(KINDS)("a %s is frozen to the bottom", (kind) => {
  const object = parseKind(kind, { ...MINIMAL[kind], labels: { a: "b" } });
  expect(Object.isFrozen(object)).toBe(true);
  expect(Object.isFrozen(object.labels)).toBe(true);
});

test.each(KINDS)("a %s refuses keys that it does not know", (kind) => {
  expect(problemsOf({ kind, ...MINIMAL[kind], nam: 1 })).toContain(
    'nam: unknown key; expected "name"',
  );
});

test("fields that are undefined are there all the same: equal objects have equal keys", () => {
  expect(Object.keys(parseKind("Node", MINIMAL.Node))).toContain("tunnel");
  expect(Object.keys(parseKind("Listener", MINIMAL.Listener))).toContain("tls");
});

test("all problems are reported at once", () => {
  const problems = problemsOf({
    kind: "Service",
    type: "Foo",
    clusterIPs: ["10.0.0.300"],
    ports: [{ port: 70000 }, { name: "x", port: 0, nodport: 5 }],
    affinitySeconds: 1.5,
    labels: { a: 1 },
    groups: [{ group: "x", hints: { path: "y" } }],
  });
  expect(problems).toEqual([
    "name: missing; expected a text",
    "labels.a: 1 is not valid; expected a text",
    'type: "Foo" is not valid; expected one of ClusterIP, NodePort, LoadBalancer, Plain',
    'clusterIPs[0]: "10.0.0.300" is not valid; expected an IPv4 or IPv6 address',
    "ports[0].port: 70000 is not valid; expected a whole number from 1 to 65535",
    "ports[1].port: 0 is not valid; expected a whole number from 1 to 65535",
    'ports[1].nodport: unknown key; expected "nodePort"',
    "affinitySeconds: 1.5 is not valid; expected a whole number",
    'groups[0].group: "x" is not valid; expected NAMESPACE/NAME',
    'groups[0].hints.path: "y" is not valid; expected a path that begins with /',
  ]);
});

test.each([
  [undefined, "missing; expected an object with a kind"],
  [[], "an empty list is not valid; expected an object with a kind"],
  [{}, `kind: missing; expected one of ${KINDS.join(", ")}`],
  [{ kind: "Servce" }, 'kind: "Servce" is not valid; expected Service'],
])("what is no object of the model is refused: %j", (raw, problem) => {
  expect(problemsOf(raw)).toEqual([problem]);
});

test.each([
  ["Service", { ports: [{ port: 80 }, { port: 81 }] }, "ports[1].name"],
  [
    "Service",
    {
      ports: [
        { name: "a", port: 80 },
        { name: "b", port: 80 },
      ],
    },
    "ports[1].port",
  ],
  ["Service", { groups: [{ group: "a/b" }, { group: "a/b", weight: 2 }] }, "groups[1].group"],
  ["Service", { edgeIPs: [{ address: "10.30.0.1", policy: "instance" }] }, "edgeIPs[0].instance"],
  ["Listener", { port: 0 }, "port"],
  ["Listener", { address: "/run/web.sock" }, "port"],
  ["Listener", { tls: { certificates: [] } }, "tls.certificates"],
  ["Endpoint", { addresses: [] }, "addresses"],
  [
    "SecurityGroup",
    { rules: [{ name: "r", network: "::/0", access: "allow", minPort: 2, maxPort: 1 }] },
    "rules[0].maxPort",
  ],
  ["Group", { healthCheck: { protocol: "http", http: { path: "x" } } }, "healthCheck.http.path"],
] as const)("what one field alone can not show is checked: %s %j", (kind, fields, path) => {
  const problems = problemsOf({ kind, ...MINIMAL[kind], ...fields });
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(new RegExp(`^${path.replaceAll(/[[\].]/g, "\\$&")}: `));
});

test("addresses get one spelling", () => {
  const service = parseKind("Service", {
    name: "web",
    clusterIPs: ["FD00:0::1"],
    sourceRanges: ["10.1.2.3/8"],
  });
  expect(service.clusterIPs).toEqual(["fd00::1"]);
  expect(service.sourceRanges).toEqual(["10.0.0.0/8"]);
});
