import { expect, test } from "vitest";
import { parseSave } from "../../../platform/linux/iptables/parse-save.ts";
import { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { compareGuard, removeGuard } from "./loopback-guard.ts";

const KUBELETS = "-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 -j DROP";
const COMMENT = '-m comment --comment "portolan: block incoming localnet connections"';
const OURS = `-A KUBE-FIREWALL ! -s 127.0.0.0/8 -d 127.0.0.0/8 ${COMMENT} -m conntrack ! --ctstate RELATED,ESTABLISHED,DNAT -j DROP`;
const OUR_JUMPS = ["INPUT", "OUTPUT"].map((hook) => `-A ${hook} ${COMMENT} -j KUBE-FIREWALL`);
const KUBELETS_JUMPS = ["INPUT", "OUTPUT"].map((hook) => `-A ${hook} -j KUBE-FIREWALL`);

function saved(...rules: readonly string[]) {
  const chains = [":INPUT ACCEPT [0:0]", ":OUTPUT ACCEPT [0:0]"];
  if (rules.length > 0) chains.push(":KUBE-FIREWALL - [0:0]");
  return parseSave(["*filter", ...chains, ...rules, "COMMIT", ""].join("\n"));
}

/** What is executed, without the lines around it. */
function scriptOf(write: (script: RestoreScript) => void): readonly string[] {
  const script = new RestoreScript();
  write(script);
  return script
    .render("legacy")
    .split("\n")
    .filter((line) => /^[-:]/.test(line));
}

test.each([
  ["nothing is there", saved(), 4],
  ["kubelet's are there", saved(KUBELETS, ...KUBELETS_JUMPS), 1],
  ["a jump is missing", saved(KUBELETS, OURS, ...KUBELETS_JUMPS.slice(1)), 1],
  ["all is there", saved(OURS, ...OUR_JUMPS), 0],
])("where it is needed and %s, what is missing is written", (_, actual, lines) => {
  expect(scriptOf((script) => compareGuard(actual, true, script))).toHaveLength(lines);
});

test("where it is not needed, or no longer, kubelet's stay", () => {
  const alone = saved(KUBELETS, ...KUBELETS_JUMPS);
  expect(scriptOf((script) => compareGuard(alone, false, script))).toEqual([]);
  const both = saved(KUBELETS, OURS, ...KUBELETS_JUMPS, ...OUR_JUMPS);
  expect(scriptOf((script) => compareGuard(both, false, script))).toEqual(
    [OURS, ...OUR_JUMPS].map((rule) => rule.replace("-A", "-D")),
  );
});

test("where only ours are there, the chain goes with them", () => {
  const lines = scriptOf((script) => removeGuard(saved(OURS, ...OUR_JUMPS), script));
  expect(lines).toContain("-X KUBE-FIREWALL");
});

test("a chain that a rule of others leads to stays, empty", () => {
  const others = "-A INPUT -s 192.0.2.1/32 -j KUBE-FIREWALL";
  const lines = scriptOf((script) => removeGuard(saved(OURS, others, ...OUR_JUMPS), script));
  expect(lines.filter((line) => line.includes("192.0.2.1"))).toEqual([]);
  expect(lines).not.toContain("-X KUBE-FIREWALL");
});
