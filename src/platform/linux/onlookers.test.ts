import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../test/support/requires.ts";
import { type Exec, execChecked, systemExec } from "./exec.ts";
import { readLegacyTables } from "./iptables/legacy-tables.ts";
import { NetworkNamespace } from "./network-namespace.ts";
import { listBaseChains } from "./nft/base-chains.ts";
import { findOnlooker, type OnlookersWorld, type OwnRules } from "./onlookers.ts";

/** As the two backends have it: a table of nftables, and a chain of iptables. */
const OWN: OwnRules = {
  isOwnTable: ({ family, table }) => family === "ip" && table === "portolan",
  isOwnRule: ({ table, name }, rule) =>
    `${table} ${name} ${rule}` === "filter FORWARD -j KUBE-FORWARD",
};

interface Rig {
  run(program: string, ...args: readonly string[]): Promise<string>;
  find(more?: Partial<OnlookersWorld>): Promise<string | undefined>;
}

/** A network namespace without any rules. */
function rig(): Rig {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  const exec: Exec = { run: (...asked) => namespace.run(() => systemExec.run(...asked)) };
  const world: OnlookersWorld = {
    exec,
    listBaseChains: () => namespace.run(listBaseChains),
    legacyTables: (family) => namespace.run(() => readLegacyTables(family)),
  };
  return {
    run: async (program, ...args) => (await execChecked(exec, program, args)).stdout,
    find: (more) => findOnlooker(OWN, { ...world, ...more }),
  };
}

const chain = (family: string, name: string, hook: string) => [
  `add table ${family} fw`,
  `add chain ${family} fw ${name} { ${hook} ; }`,
];
const PASSING = [
  ["ip", "before", "type filter hook prerouting priority -300"],
  ["ip6", "between", "type filter hook forward priority 0"],
  ["inet", "behind", "type filter hook postrouting priority 50"],
  ["netdev", "atlink", "type filter hook ingress device lo priority 0"],
  ["inet", "atlink", "type filter hook ingress device lo priority 0"],
] as const;
/** Which no forwarded packet meets, or only the first one of a connection. */
const APART = [
  ["ip", "in", "type filter hook input priority 0"],
  ["ip", "out", "type route hook output priority 0"],
  ["ip", "first", "type nat hook prerouting priority -100"],
  ["bridge", "bridged", "type filter hook forward priority 0"],
  ["arp", "asked", "type filter hook input priority 0"],
] as const;

describe("rules of others", requires("linux", "root", "nft", "iptables"), () => {
  test("there are none in an empty kernel, and to look makes none", async () => {
    const { run, find } = rig();
    expect(await find()).toBeUndefined();
    expect(await run("nft", "list", "ruleset")).toBe("");
    expect(await run("iptables-legacy-save")).toBe("");
  });

  test.each(PASSING)("of nftables are found: %s %s", async (family, name, hook) => {
    const { run, find } = rig();
    for (const command of chain(family, name, hook)) await run("nft", command);
    // Who has no rules counts nothing.
    expect(await find()).toBeUndefined();
    await run("nft", `add rule ${family} fw ${name} counter`);
    expect(await find()).toBe(`rules of others in chain ${name} of table ${family} fw`);
  });

  test.each(APART)(
    "that no passing packet meets do not count: %s %s",
    async (family, name, hook) => {
      const { run, find } = rig();
      for (const command of chain(family, name, hook)) await run("nft", command);
      await run("nft", `add rule ${family} fw ${name} counter`);
      expect(await find()).toBeUndefined();
    },
  );

  test("those in a table of ours are ours", async () => {
    const { run, find } = rig();
    await run("nft", "add table ip portolan");
    await run("nft", "add chain ip portolan c { type filter hook forward priority 0 ; }");
    await run("nft", "add rule ip portolan c counter");
    expect(await find()).toBeUndefined();
    await run("nft", "add table inet portolan");
    await run("nft", "add chain inet portolan c { type filter hook forward priority 0 ; }");
    await run("nft", "add rule inet portolan c counter");
    expect(await find()).toBe("rules of others in chain c of table inet portolan");
  });

  test("in a table that is dormant do not count, until it is awake", async () => {
    const { run, find } = rig();
    for (const family of ["ip", "inet"]) {
      for (const command of chain(family, "f", "type filter hook forward priority 0")) {
        await run("nft", command);
      }
      await run("nft", `add rule ${family} fw f counter`);
    }
    await run("nft", "add table inet fw { flags dormant; }");
    expect(await find()).toBe("rules of others in chain f of table ip fw");
    await run("nft", "add table ip fw { flags dormant; }");
    expect(await find()).toBeUndefined();
    await run("nft", "add table inet fw");
    expect(await find()).toBe("rules of others in chain f of table inet fw");
  });

  test("of iptables-nft in a table that is dormant do not count", async () => {
    const { run, find } = rig();
    await run("iptables-nft", "-A", "FORWARD", "-j", "ACCEPT");
    await run("nft", "add table ip filter { flags dormant; }");
    expect(await find()).toBeUndefined();
  });

  describe.each(["nft", "legacy"] as const)("of iptables-%s", (mode) => {
    test.each([
      ["iptables", "filter", "FORWARD"],
      ["iptables", "mangle", "PREROUTING"],
      ["iptables", "mangle", "FORWARD"],
      ["ip6tables", "mangle", "POSTROUTING"],
      ["ip6tables", "raw", "PREROUTING"],
      ["iptables", "security", "FORWARD"],
    ])("are found: %s -t %s -A %s", async (tool, table, name) => {
      for (const target of [["-j", "ACCEPT"], []]) {
        const { run, find } = rig();
        await run(`${tool}-${mode}`, "-t", table, "-A", name, ...target);
        const words = `rules of others in chain ${name} of table ${table} (${tool}-${mode})`;
        expect(await find()).toBe(words);
      }
    });

    test("do not count where they are ours, or no passing packet meets them", async () => {
      const { run, find } = rig();
      const iptables = `iptables-${mode}`;
      await run(iptables, "-N", "KUBE-FORWARD");
      await run(iptables, "-A", "KUBE-FORWARD", "-j", "ACCEPT");
      await run(iptables, "-A", "FORWARD", "-j", "KUBE-FORWARD");
      await run(iptables, "-A", "INPUT", "-j", "ACCEPT");
      await run(iptables, "-t", "nat", "-A", "PREROUTING", "-j", "ACCEPT");
      expect(await find()).toBeUndefined();
      await run(iptables, "-A", "FORWARD", "-m", "comment", "--comment", "-j KUBE-FORWARD");
      expect(await find()).toBe(`rules of others in chain FORWARD of table filter (${iptables})`);
    });
  });

  test("that a tool can not read are no answer, and why is told", async () => {
    const { run, find } = rig();
    await run("iptables-nft", "-N", "KUBE-FORWARD");
    await run("iptables-nft", "-A", "FORWARD", "-j", "KUBE-FORWARD");
    const exec: Exec = { run: async () => ({ exitCode: 1, stdout: "", stderr: "no" }) };
    await expect(find({ exec })).rejects.toMatchObject({
      code: "ERR_PROGRAM_FAILED",
      message:
        "the rules of chain FORWARD of table filter (iptables-nft) could not be read: iptables-nft -w 30 -t filter -S FORWARD: ended with exit code 1: no",
      cause: { code: "ERR_PROGRAM_FAILED" },
    });
    const missing: Exec = { run: (_, args) => systemExec.run("/nowhere/iptables-nft", args) };
    await expect(find({ exec: missing })).rejects.toThrow(
      /^the rules of chain FORWARD .* could not be read: .*there is no such program; install it$/,
    );
  });
});
