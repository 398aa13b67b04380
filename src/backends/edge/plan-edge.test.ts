import { describe, expect, test } from "vitest";
import { parseObject } from "../../core/model/parse.ts";
import { generateTunnelKey, publicTunnelKey } from "../../edge/tunnel/tunnel-keys.ts";
import { fullStateOf } from "../full-state.fixture.ts";
import { type EdgePlan, planEdge } from "./plan-edge.ts";
import { edgeSettingsOf } from "./settings.ts";

const KEYS = { a: publicTunnelKey(generateTunnelKey()), b: publicTunnelKey(generateTunnelKey()) };
const OPTIONS = {
  edgeRange: [],
  edgeAddress: [],
  tunnelFolder: "/nowhere",
  tunnelListenPort: 50_103,
  tunnelModes: [],
  tunnelMtu: 1400,
} as const;

const NODES = [
  {
    kind: "Node",
    name: "a",
    subnets: ["10.18.0.0/26", "fc00::/120"],
    tunnel: { address: "192.0.2.1:50103", publicKey: KEYS.a },
  },
  {
    kind: "Node",
    name: "b",
    subnets: ["10.18.0.64/26"],
    tunnel: { address: "192.0.2.2:50103", publicKey: KEYS.b },
  },
];
const WEB = {
  kind: "Service",
  name: "web",
  edgeIPs: [{ address: "10.30.0.1" }],
  ports: [{ name: "http", port: 80, targetPort: 8080 }],
};
const AT_A = { kind: "Endpoint", group: "web", name: "0", addresses: ["10.18.0.2"], node: "a" };
const AT_B = { kind: "Endpoint", group: "web", name: "1", addresses: ["10.18.0.66"], node: "b" };

async function plan(
  raw: readonly object[],
  options: Partial<Parameters<typeof edgeSettingsOf>[0]> = {},
): Promise<EdgePlan> {
  const settings = edgeSettingsOf({ ...OPTIONS, ...options });
  const state = await fullStateOf(raw.map(parseObject), "a");
  return planEdge(state, {
    nodeName: "a",
    settings,
    publicKey: KEYS.a,
    families: ["v4", "v6"],
  });
}

test("instances of this node and of others, with the ports that their service leads to", async () => {
  const { services, peers, addresses, limits } = await plan([...NODES, WEB, AT_A, AT_B]);
  const leads = [{ protocol: "tcp", port: 80, target: 8080 }];
  expect(services).toEqual([
    {
      key: "default/web",
      names: [],
      addresses: [{ address: "10.30.0.1", policy: "round-robin", instance: -1 }],
      instances: [
        { number: -1, node: "a", addresses: ["10.18.0.2"], weight: 1, leads },
        { number: -1, node: "b", addresses: ["10.18.0.66"], weight: 1, leads },
      ],
    },
  ]);
  expect(peers).toMatchObject([{ node: "b", publicKey: KEYS.b, modes: ["secure"] }]);
  expect(addresses).toEqual({ v4: "10.18.0.1", v6: "fc00::1" });
  expect(limits.size).toBe(0);
});

test("a service without ports leads to whole instances", async () => {
  const { services } = await plan([...NODES, { ...WEB, ports: [] }, AT_A]);
  expect(services[0]?.instances).toEqual([
    { number: -1, node: "a", addresses: ["10.18.0.2"], weight: 1 },
  ]);
});

test("groups share by their weights, whatever those of their endpoints sum up to", async () => {
  const groups = [
    { group: "default/web", weight: 1 },
    { group: "default/new", weight: 3 },
  ];
  const more = ["2", "3"].map((name, index) => ({
    ...{ ...AT_B, group: "new", name, weight: 5 },
    addresses: [`10.18.0.7${index}`],
  }));
  const { services } = await plan([...NODES, { ...WEB, groups }, AT_A, ...more]);
  const shares = services[0]?.instances.map(({ node, weight }) => [node, weight]);
  expect(shares?.sort()).toEqual([
    ["a", 1],
    ["b", 1.5],
    ["b", 1.5],
  ]);
});

test("what can not be served is left out, and told", async () => {
  const stranger = { ...AT_B, name: "9", addresses: ["10.99.0.1"] };
  const service = {
    ...WEB,
    edgeIPs: [{ address: "10.30.0.1" }, { address: "10.31.0.1" }],
    affinitySeconds: 60,
  };
  const third = { ...NODES[1], name: "c" };
  const { services, limits } = await plan([...NODES, third, service, AT_A, stranger]);
  expect(services[0]?.instances).toHaveLength(1);
  expect(services[0]?.addresses).toHaveLength(1);
  expect([...limits]).toEqual([
    ["other nodes", [expect.stringContaining("c: ")]],
    [
      "default/web",
      [
        "endpoints that are not in the subnets of a node with a tunnel are left out",
        "10.31.0.1 is no address of --edge-range that a service may have",
        "a client does not stay with its endpoint",
      ],
    ],
  ]);
});

test("a node without a key is a peer only where a mode without keys is allowed", async () => {
  const plain = { ...NODES[1], tunnel: { address: "192.0.2.2:50103" } };
  const objects = [NODES[0] ?? {}, plain];
  expect((await plan(objects)).peers).toEqual([]);
  const { peers } = await plan(objects, { tunnelModes: ["secure", "compat"] });
  expect(peers).toMatchObject([{ node: "b", modes: ["compat"] }]);
});

describe("refuses", () => {
  test.each([
    ["a state without this node", [NODES[1] ?? {}], {}, /Node a: missing/],
    ["a node without networks", [{ kind: "Node", name: "a" }], {}, /Node a: subnets: missing/],
    ["networks among edge addresses", NODES, { edgeRange: ["10.18.0.0/16"] }, /overlaps/],
    ["an address of another network", NODES, { edgeAddress: ["10.18.9.1"] }, /--edge-address/],
    ["a mode that there is not", NODES, { tunnelModes: ["quick"] }, /--tunnel-modes/],
    ["a range that is none", NODES, { edgeRange: ["0.0.0.0/0"] }, /--edge-range/],
  ])("%s", async (_, objects, options, message) => {
    await expect(plan(objects, options)).rejects.toThrow(message);
  });
});
