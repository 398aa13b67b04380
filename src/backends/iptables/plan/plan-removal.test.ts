import { describe, expect, test } from "vitest";
import { nameOf } from "../../../platform/linux/iptables/chain-id.ts";
import { parseSave } from "../../../platform/linux/iptables/parse-save.ts";
import { isKubeProxyChain } from "../../kube-chains.ts";
import { KUBE_PROXY_JUMPS, restorableJump } from "../../kube-proxy-jumps.fixture.ts";
import { planRemoval } from "./plan-removal.ts";

/** What is executed in a table that holds this; from the name of the table on. */
function removal(...saved: readonly string[]): readonly string[] {
  const script = planRemoval(parseSave([...saved, "COMMIT\n"].join("\n")), isKubeProxyChain);
  return script.render("nft").split("\n").slice(1, -2);
}

describe("rules of others at hooks", () => {
  test("stay, and so does the chain that they lead to, without rules", () => {
    expect(
      removal(
        "*nat\n:PREROUTING ACCEPT [0:0]\n:POSTROUTING ACCEPT [0:0]",
        ":KUBE-MARK-MASQ - [0:0]\n:KUBE-POSTROUTING - [0:0]\n:KUBE-SERVICES - [0:0]",
        '-A PREROUTING -s 1.2.3.4/32 -m comment --comment "mine" -j KUBE-MARK-MASQ',
        "-A PREROUTING -j KUBE-SERVICES",
        "-A POSTROUTING -s 5.6.7.8/32 -j KUBE-POSTROUTING",
        '-A POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
        "-A KUBE-MARK-MASQ -j MARK --set-xmark 0x4000/0x4000",
        "-A KUBE-POSTROUTING -j MASQUERADE",
      ),
    ).toEqual([
      ":KUBE-MARK-MASQ - [0:0]",
      ":KUBE-POSTROUTING - [0:0]",
      ":KUBE-SERVICES - [0:0]",
      "-D PREROUTING -j KUBE-SERVICES",
      '-D POSTROUTING -m comment --comment "kubernetes postrouting rules" -j KUBE-POSTROUTING',
      "-X KUBE-SERVICES",
    ]);
  });

  test("and an emptied chain of ours are left as they are", () => {
    expect(
      removal(
        "*nat\n:PREROUTING ACCEPT [0:0]\n:KUBE-MARK-MASQ - [0:0]",
        "-A PREROUTING -s 1.2.3.4/32 -j KUBE-MARK-MASQ",
      ),
    ).toEqual([]);
  });

  test("lead to kubelet's chain, which then stays without our rule", () => {
    const guard =
      '-A KUBE-FIREWALL -m comment --comment "portolan: block incoming localnet connections" -j DROP';
    const chains =
      "*filter\n:INPUT ACCEPT [0:0]\n:KUBE-FIREWALL - [0:0]\n-A INPUT -j KUBE-FIREWALL";
    const removed = [guard.replace("-A", "-D"), "-D INPUT -j KUBE-FIREWALL"];
    expect(removal(chains, guard)).toEqual([...removed, "-X KUBE-FIREWALL"]);
    expect(removal(chains, "-A INPUT -s 1.2.3.4/32 -j KUBE-FIREWALL", guard)).toEqual(removed);
  });
});

test.each(KUBE_PROXY_JUMPS)("a jump of kube-proxy at %s goes: %s", (hook, rule) => {
  const saved = restorableJump([hook, rule]).replace("\n", `\n:${nameOf(hook)} ACCEPT [0:0]\n`);
  const target = rule.slice(rule.lastIndexOf(" ") + 1);
  expect(removal(saved)).toEqual([
    `:${target} - [0:0]`,
    `-D ${nameOf(hook)} ${rule}`,
    `-X ${target}`,
  ]);
});
