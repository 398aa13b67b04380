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

test.each(["legacy", "nft"] as const)(
  "chains are told along with the steps that write them: %s",
  (mode) => {
    const script = new RestoreScript();
    let written = 0;
    const steps = function* () {
      for (; written < 500; written += 1) {
        yield script.write(`nat C-${written}`, `-A C-${written} -j A\n-A C-${written} -j B`);
      }
      script.insert("nat OUTPUT", ["-j C-0"]);
      script.write("filter F", "-A F -j DROP");
    };
    const writtenThen: number[] = [];
    let text = "";
    for (const piece of script.renderAlong(mode, "nat", steps())) {
      writtenThen.push(written);
      text += piece;
    }
    // Not all at the end.
    expect(writtenThen.filter((count) => count > 0 && count < 500)).toHaveLength(2);
    const lines = Array.from({ length: 500 }, (_, index) => [
      `:C-${index} - [0:0]`,
      `-A C-${index} -j A`,
      `-A C-${index} -j B`,
    ]);
    const isParted = mode === "nft";
    expect(sorted(text)).toEqual(
      sorted(
        [
          "*nat",
          ...(isParted ? ["-S"] : []),
          ...lines.flat(),
          ...(isParted ? ["COMMIT", "*nat"] : []),
          "-I OUTPUT 1 -j C-0",
          "COMMIT",
          "*filter",
          ":F - [0:0]",
          "-A F -j DROP",
          "COMMIT",
        ].join("\n"),
      ),
    );
    // Each chain before its rules, hooks behind them all; those apart also behind what refuses packets.
    expect(text.indexOf(":C-7 ")).toBeLessThan(text.indexOf("-A C-7 "));
    expect(text.indexOf("-I OUTPUT")).toBeGreaterThan(text.indexOf("-A C-499 "));
    expect(text.indexOf("*filter") < text.indexOf("-I OUTPUT")).toBe(isParted);
    expect(script.transactionCount(mode)).toBe(isParted ? 3 : 2);
    expect(script.size).toBe(500 * 3 + 1 + 2);
  },
);

function sorted(text: string): readonly string[] {
  return text
    .split("\n")
    .filter((line) => line !== "")
    .sort();
}
