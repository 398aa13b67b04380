import { expect, test } from "vitest";
import { DEFAULT_ROUTE_POLICY } from "../../../core/route/route-policy.ts";
import type { IptablesTool } from "../../../platform/linux/iptables/iptables-tool.ts";
import { parseSave } from "../../../platform/linux/iptables/parse-save.ts";
import { createPlanContext } from "../../plan-context.ts";
import { GlueKeeper, planGlueRemoval } from "./glue-keeper.ts";
import { setsOf } from "./set-names.ts";

const CONTEXT = createPlanContext({
  family: "v4",
  policy: DEFAULT_ROUTE_POLICY,
  node: { name: "node-a", zone: "", addresses: ["192.0.2.1"], subnets: [] },
  isLarge: false,
  isLiberal: true,
  masqueradeBit: 14,
  workloadInterfaces: [],
});

/** A jump of ours, and what others lead to chains of ours: at a hook, and in a chain of their own. */
const SAVED = `*nat
:PREROUTING ACCEPT [0:0]
:KUBE-LOAD-BALANCER - [0:0]
:KUBE-MARK-MASQ - [0:0]
:KUBE-NODEPORTS - [0:0]
:KUBE-SERVICES - [0:0]
:OTHERS - [0:0]
-A PREROUTING -s 1.2.3.4/32 -j KUBE-MARK-MASQ
-A PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES
-A OTHERS -j KUBE-NODEPORTS
-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000
-A KUBE-NODEPORTS -j ACCEPT
-A KUBE-SERVICES -j KUBE-LOAD-BALANCER
COMMIT
`;

test("a sync leaves rules of others, and what they lead to", async () => {
  const scripts: string[] = [];
  const tool: IptablesTool = {
    family: "v4",
    mode: "nft",
    save: async () => SAVED,
    restore: async (script) => void scripts.push([...script].join("")),
  };
  await new GlueKeeper(tool, setsOf("v4")).sync(CONTEXT);
  const lines = scripts.join("").split("\n");
  expect(lines.filter((line) => line.startsWith("-D"))).toEqual([]);
  expect(lines.filter((line) => line.startsWith("-X"))).toEqual(["-X KUBE-LOAD-BALANCER"]);
  expect(lines).toContain(":KUBE-NODEPORTS - [0:0]");
});

test("clean-up leaves rules of others, and empties what they lead to", () => {
  const script = planGlueRemoval(parseSave(SAVED), () => false);
  expect(script.render("nft").split("\n")).toEqual([
    "*nat",
    ":KUBE-LOAD-BALANCER - [0:0]",
    ":KUBE-MARK-MASQ - [0:0]",
    ":KUBE-SERVICES - [0:0]",
    '-D PREROUTING -m comment --comment "kubernetes service portals" -j KUBE-SERVICES',
    "-X KUBE-LOAD-BALANCER",
    "-X KUBE-SERVICES",
    "COMMIT",
    "",
  ]);
});
