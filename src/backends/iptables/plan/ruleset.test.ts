import { describe, expect, test } from "vitest";
import type { ChainId } from "../../../platform/linux/iptables/chain-id.ts";
import { parseSave } from "../../../platform/linux/iptables/parse-save.ts";
import type { RestoreScript } from "../../../platform/linux/iptables/restore-script.ts";
import { SERVICES } from "../../kube-chains.ts";
import { GroupBuilder, type GroupRules, NO_RULES } from "./group-rules.ts";
import { BASE, Ruleset } from "./ruleset.ts";

const BUCKET: ChainId = "filter KUBE-CIP-X";

function group(
  own: Readonly<Record<string, readonly string[]>>,
  ...shared: readonly string[]
): GroupRules {
  const builder = new GroupBuilder();
  for (const [name, rules] of Object.entries(own)) builder.chain(`nat ${name}`).push(...rules);
  if (shared.length > 0) builder.share(SERVICES, ...shared);
  return builder.build();
}

const base = group({}, "-j LAST");
const a = group({ "KUBE-SVC-A": ["-j ACCEPT"] }, "-d 1 -j KUBE-SVC-A");
const b = group({ "KUBE-SVC-B": ["-j ACCEPT"] }, "-d 2 -j KUBE-SVC-B", "-d 3 -j KUBE-SVC-B");

/** A ruleset that the kernel has, with these groups. */
function settled(...groups: readonly (readonly [string, GroupRules])[]): Ruleset {
  const ruleset = new Ruleset();
  ruleset.compare(new Map(), new Map([[BASE, base], ...groups]));
  return ruleset;
}

function lines(script: RestoreScript): readonly string[] {
  return script
    .render("nft")
    .split("\n")
    .filter((line) => line !== "");
}

describe("a change", () => {
  test("tells only the chains of what changed, and puts its rules in front", () => {
    const script = settled(["a", a]).change(new Map([["b", b]]));
    expect(lines(script)).toEqual([
      "*nat",
      ":KUBE-SVC-B - [0:0]",
      "-A KUBE-SVC-B -j ACCEPT",
      "-I KUBE-SERVICES 1 -d 3 -j KUBE-SVC-B",
      "-I KUBE-SERVICES 1 -d 2 -j KUBE-SVC-B",
      "COMMIT",
    ]);
    expect(script.size).toBe(4);
    expect(script.transactionCount("nft")).toBe(1);
  });

  test("takes rules away before the chain that they lead to", () => {
    expect(lines(settled(["a", a], ["b", b]).change(new Map([["b", NO_RULES]])))).toEqual([
      "*nat",
      ":KUBE-SVC-B - [0:0]",
      "-D KUBE-SERVICES -d 2 -j KUBE-SVC-B",
      "-D KUBE-SERVICES -d 3 -j KUBE-SVC-B",
      "-X KUBE-SVC-B",
      "COMMIT",
    ]);
  });

  test.each([
    ["from", "to"],
    ["to", "from"],
  ])("does not delete a chain that another group takes over: %s, %s", (...order) => {
    const lets = { "KUBE-FW-L": ["-j ACCEPT"] };
    const script = settled(["from", group(lets)]).change(
      new Map(order.map((key) => [key, key === "to" ? group(lets) : NO_RULES])),
    );
    expect(lines(script)).toEqual([
      "*nat",
      ":KUBE-FW-L - [0:0]",
      "-A KUBE-FW-L -j ACCEPT",
      "COMMIT",
    ]);
  });

  test("of nothing is nothing", () => {
    const ruleset = settled(["a", a]);
    const again = group({ "KUBE-SVC-A": ["-j ACCEPT"] }, "-d 1 -j KUBE-SVC-A");
    expect(ruleset.change(new Map([["a", again]])).isEmpty).toBe(true);
  });

  test("of many rules writes a shared chain anew, with those of the base last", () => {
    const rules = Array.from({ length: 300 }, (_, index) => `-d ${index} -j X`);
    const script = settled(["a", a]).change(new Map([["many", group({}, ...rules)]]));
    const written = lines(script);
    expect(written[1]).toBe(":KUBE-SERVICES - [0:0]");
    expect(written).toHaveLength(3 + 1 + 300 + 1);
    expect(written.at(-2)).toBe("-A KUBE-SERVICES -j LAST");
  });

  test("makes a chain that some share with the first of them, and deletes it with the last", () => {
    const share = (rule: string): GroupRules => {
      const builder = new GroupBuilder();
      builder.share(BUCKET, rule);
      builder.share("filter KUBE-CLUSTER-IPS", "-d net -j KUBE-CIP-X");
      return builder.build();
    };
    const ruleset = settled();
    const first = lines(ruleset.change(new Map([["a", share("-d 1 -j REJECT")]])));
    expect(first).toContain(":KUBE-CIP-X - [0:0]");
    expect(first).toContain("-I KUBE-CLUSTER-IPS 1 -d net -j KUBE-CIP-X");
    expect(lines(ruleset.change(new Map([["b", share("-d 2 -j REJECT")]])))).toEqual([
      "*filter",
      "-I KUBE-CIP-X 1 -d 2 -j REJECT",
      "COMMIT",
    ]);
    expect(lines(ruleset.change(new Map([["a", NO_RULES]])))).toEqual([
      "*filter",
      "-D KUBE-CIP-X -d 1 -j REJECT",
      "COMMIT",
    ]);
    expect(lines(ruleset.change(new Map([["b", NO_RULES]])))).toEqual([
      "*filter",
      ":KUBE-CIP-X - [0:0]",
      "-D KUBE-CLUSTER-IPS -d net -j KUBE-CIP-X",
      "-X KUBE-CIP-X",
      "COMMIT",
    ]);
  });
});

describe("a comparison", () => {
  const desired = new Map([
    [BASE, base],
    ["a", a],
    ["b", b],
  ]);
  const saved = (...rules: readonly string[]) =>
    parseSave(
      [
        "*nat",
        ":KUBE-SERVICES - [0:0]",
        ":KUBE-SVC-A - [0:0]",
        ":KUBE-SVC-B - [0:0]",
        ...rules.map((rule) => `-A KUBE-SERVICES ${rule}`),
        "-A KUBE-SVC-A -j ACCEPT",
        "-A KUBE-SVC-B -j ACCEPT",
        "COMMIT",
      ].join("\n"),
    );
  const compare = (...rules: readonly string[]) =>
    lines(new Ruleset().compare(saved(...rules), desired));

  test("finds the same rules in another order of groups, with comments, right", () => {
    expect(
      compare(
        "-d 2 -j KUBE-SVC-B",
        '-d 1 -m comment --comment "a" -j KUBE-SVC-A',
        "-d 3 -j KUBE-SVC-B",
        "-j LAST",
      ),
    ).toEqual([]);
  });

  test.each([
    ["one is missing", ["-d 1 -j KUBE-SVC-A", "-d 2 -j KUBE-SVC-B", "-j LAST"]],
    [
      "a group's own order is another",
      ["-d 1 -j KUBE-SVC-A", "-d 3 -j KUBE-SVC-B", "-d 2 -j KUBE-SVC-B", "-j LAST"],
    ],
    [
      "the base is not last",
      ["-j LAST", "-d 1 -j KUBE-SVC-A", "-d 2 -j KUBE-SVC-B", "-d 3 -j KUBE-SVC-B"],
    ],
    [
      "one is there twice",
      ["-d 1 -j KUBE-SVC-A", "-d 2 -j KUBE-SVC-B", "-d 2 -j KUBE-SVC-B", "-j LAST"],
    ],
  ])("writes a shared chain anew where %s", (_, rules) => {
    expect(compare(...rules)).toEqual([
      "*nat",
      ":KUBE-SERVICES - [0:0]",
      "-A KUBE-SERVICES -d 1 -j KUBE-SVC-A",
      "-A KUBE-SERVICES -d 2 -j KUBE-SVC-B",
      "-A KUBE-SERVICES -d 3 -j KUBE-SVC-B",
      "-A KUBE-SERVICES -j LAST",
      "COMMIT",
    ]);
  });

  test("deletes chains of ours that nobody wants, and never others'", () => {
    const actual = parseSave(
      [
        "*nat",
        ":KUBE-SVC-OLD - [0:0]",
        ":KUBE-MARK-DROP - [0:0]",
        ":KUBE-KUBELET-CANARY - [0:0]",
        ":OTHER - [0:0]",
        "COMMIT",
        "*filter",
        ":KUBE-FIREWALL - [0:0]",
        "COMMIT",
      ].join("\n"),
    );
    const script = new Ruleset().compare(actual, new Map([[BASE, NO_RULES]]));
    expect(lines(script)).toEqual(["*nat", ":KUBE-SVC-OLD - [0:0]", "-X KUBE-SVC-OLD", "COMMIT"]);
  });

  test("takes rules away as the kernel has them, whatever their comments are", () => {
    const ruleset = new Ruleset();
    ruleset.compare(
      saved(
        '-d 1 -m comment --comment "old" -j KUBE-SVC-A',
        "-d 2 -j KUBE-SVC-B",
        "-d 3 -j KUBE-SVC-B",
        "-j LAST",
      ),
      desired,
    );
    expect(lines(ruleset.change(new Map([["a", NO_RULES]])))).toContain(
      '-D KUBE-SERVICES -d 1 -m comment --comment "old" -j KUBE-SVC-A',
    );
  });
});

test("ways to networks that groups share may stand in any order, other rules may not", () => {
  const shared = (...rules: readonly string[]): GroupRules => group({}, ...rules);
  const [one, two] = ["-d 1 -j KUBE-NET-A", "-d 2 -j KUBE-SVC-0B"];
  const desired = new Map([
    [BASE, NO_RULES],
    ["a", shared(one, two)],
    ["b", shared(two, one)],
    ["c", shared("-d 3 -j X", "-d 3 -j Y")],
  ]);
  const compare = (...rules: readonly string[]) =>
    new Ruleset().compare(new Map([["nat KUBE-SERVICES", rules]]), desired).isEmpty;
  expect(compare(two, one, "-d 3 -j X", "-d 3 -j Y")).toBe(true);
  expect(compare("-d 3 -j X", one, "-d 3 -j Y", two)).toBe(true);
  expect(compare(one, two, "-d 3 -j Y", "-d 3 -j X")).toBe(false);
});
