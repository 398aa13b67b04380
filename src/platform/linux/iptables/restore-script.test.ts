import { expect, test } from "vitest";
import { RestoreScript } from "./restore-script.ts";

const MANY = 5000;

function filled(chains: number): RestoreScript {
  const script = new RestoreScript();
  script.insert("nat PREROUTING", ["-j KUBE-SERVICES"]);
  script.remove("nat OUTPUT", "-j KUBE-OLD");
  script.deleteChain("nat KUBE-OLD");
  for (let index = 0; index < chains; index += 1) {
    script.write(`nat KUBE-SVC-${index}`, `-A KUBE-SVC-${index} -j ACCEPT`);
  }
  return script;
}

test("a table is one transaction: chains, then hooks, then what goes", () => {
  const script = filled(1);
  expect(script.transactionCount("nft")).toBe(1);
  expect(script.render("nft")).toBe(`*nat
:KUBE-OLD - [0:0]
:KUBE-SVC-0 - [0:0]
-A KUBE-SVC-0 -j ACCEPT
-D OUTPUT -j KUBE-OLD
-I PREROUTING 1 -j KUBE-SERVICES
-X KUBE-OLD
COMMIT
`);
});

test("very many lines are told to iptables-nft in parts that do not make it slow", () => {
  const script = filled(MANY / 2);
  expect(script.transactionCount("legacy")).toBe(1);
  expect(script.render("legacy")).not.toMatch(/^-S$/m);
  const parts = script.render("nft").split("*nat\n").slice(1);
  expect(parts).toHaveLength(script.transactionCount("nft"));
  const [chains = "", hooks, gone] = parts;
  expect(chains.split("\n").slice(0, 2)).toEqual(["-S", ":KUBE-OLD - [0:0]"]);
  expect(hooks).toBe("-D OUTPUT -j KUBE-OLD\n-I PREROUTING 1 -j KUBE-SERVICES\nCOMMIT\n\n");
  expect(gone).toBe("-S\n-X KUBE-OLD\nCOMMIT\n");
  expect(script.render("nft").split("\n").length - script.render("legacy").split("\n").length).toBe(
    8,
  );
});
