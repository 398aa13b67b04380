import { expect, test } from "vitest";
import { describeVerdict, verdictToJson } from "./describe.ts";
import { route } from "./route.ts";
import { globalStateOf } from "./scenarios/scenario.ts";
import { SCENARIOS } from "./scenarios.ts";
import type { Verdict } from "./verdict.ts";

function verdictOf(name: string): Verdict {
  const scenario = SCENARIOS.find((one) => one.name === name);
  if (scenario === undefined) throw new Error(`no scenario is called ${name}`);
  const { objects, node, packet, policy, observed } = scenario;
  return route({ global: globalStateOf(objects), node }, packet, policy, observed);
}

test("the candidates, the reasons and the others are told to people", () => {
  const verdict = verdictOf("cluster-ip/tcp/v6/iTP-Cluster/zone-hints/from-outside");
  expect(describeVerdict(verdict)).toEqual([
    "The packet goes to one of",
    "  [fd00:244:1::12]:8080  50 %  default/web/web-a on node-a, masqueraded",
    "  [fd00:244:2::12]:8080  50 %  default/web/web-b on node-b, masqueraded",
    "Because",
    "  - [fd00:96::10]:80/TCP is a cluster IP of Service default/web, port main",
    "  - internal traffic policy Cluster: endpoints of the whole cluster",
    "  - topology hints: only endpoints for zone a",
    "  - masqueraded: the source is no workload by the local detection",
    "Not chosen",
    "  - default/web/web-c: its topology hints name other places",
  ]);
});

test("a drop tells who could have answered elsewhere", () => {
  const verdict = verdictOf("node-port/tcp/v4/eTP-Local/no-local/from-outside");
  expect(describeVerdict(verdict)).toEqual([
    "The packet is dropped: the client is told nothing",
    "Because",
    "  - 192.168.100.1:30080/TCP is a node port of Service default/web, port main",
    "  - external traffic policy Local: only endpoints on this node",
    "  - dropped: no endpoint on this node, but others elsewhere",
    "Not chosen",
    "  - default/web/web-b: it is not on this node",
    "  - default/web/web-c: it is not on this node",
  ]);
});

test("what is not ours is said in a line", () => {
  const verdict = verdictOf("external-ip/tcp/v4/wrong-port/from-outside");
  expect(describeVerdict(verdict)).toEqual([
    "The packet is left alone: it is not for a service",
    "Because",
    "  - 203.0.113.10:81/TCP is no address of a service on this node",
  ]);
});

test("shares are rounded, and a small one is never shown as nothing", () => {
  const verdict = verdictOf("cluster-ip/tcp/v4/iTP-Cluster/spread/from-workload");
  if (verdict.kind !== "endpoints") throw new Error(`the verdict is ${verdict.kind}`);
  const [first] = verdict.candidates;
  if (first === undefined) throw new Error("the verdict has no candidates");
  const lineFor = (probability: number) =>
    describeVerdict({ ...verdict, candidates: [{ ...first, probability }] })[1];
  expect(lineFor(1 / 3)).toContain("  33.3 %  ");
  expect(lineFor(1)).toContain("  100 %  ");
  expect(lineFor(0.000_01)).toContain("  < 0.1 %  ");
});

test("as data, objects are named by their keys, and it survives JSON", () => {
  const json = verdictToJson(verdictOf("listen-address/tcp/v4/on-any-address/from-outside"));
  expect(JSON.parse(JSON.stringify(json))).toEqual(json);
  expect(json).toMatchObject({
    verdict: "endpoints",
    addressType: "listen-address",
    service: "default/web",
    port: "main",
    listener: "default/front",
    candidates: [
      { endpoint: "default/web/web-a", node: "node-a", address: "10.244.1.12", targetPort: 8080 },
      { endpoint: "default/web/web-b", masquerade: true },
      { endpoint: "default/web/web-c", probability: expect.closeTo(1 / 3, 9) },
    ],
    others: [],
  });
});

test("as data, a verdict without a service names none", () => {
  expect(verdictToJson(verdictOf("node-port/tcp/v4/wrong-port/from-outside"))).toEqual({
    verdict: "not-ours",
    reasons: ["192.168.100.1:30081/TCP is no address of a service on this node"],
    others: [],
  });
});
