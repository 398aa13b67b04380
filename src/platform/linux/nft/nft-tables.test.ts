import { describe, expect, onTestFinished, test } from "vitest";
import { requires } from "../../../../test/support/requires.ts";
import { isDormant, type TableState } from "../../../wire/netlink/nftables/table-messages.ts";
import { execChecked, systemExec } from "../exec.ts";
import { NetworkNamespace } from "../network-namespace.ts";
import { NFT_TABLES } from "./nft-tables.ts";

function rig() {
  const namespace = NetworkNamespace.create();
  onTestFinished(() => namespace.close());
  const inside = <T>(work: () => T): T => namespace.run(work);
  return {
    nft: async (command: string) =>
      (await inside(() => execChecked(systemExec, "nft", [command]))).stdout,
    list: async () => (await inside(NFT_TABLES.list)).filter(isDormant),
    wake: (tables: readonly TableState[]) => inside(() => NFT_TABLES.wake(tables)),
  };
}

describe("tables that no packet meets", requires("linux", "root", "nft"), () => {
  test("there are none in an empty kernel", async () => {
    expect(await rig().list()).toEqual([]);
  });

  test("are found in all families, and woken", async () => {
    const { nft, list, wake } = rig();
    const families = ["ip", "ip6", "inet", "arp", "bridge", "netdev"];
    for (const family of families) {
      await nft(`add table ${family} sleeps { flags dormant; comment "mine"; }`);
      await nft(`add table ${family} works`);
    }
    await nft("add chain ip sleeps c { type filter hook forward priority 0; }");
    const found = await list();
    expect(found.map(({ family }) => family).sort()).toEqual([...families].sort());
    expect(new Set(found.map(({ name }) => name))).toEqual(new Set(["sleeps"]));
    await wake(found.filter(({ family }) => family.startsWith("ip")));
    expect((await list()).map(({ family }) => family).sort()).toEqual([
      "arp",
      "bridge",
      "inet",
      "netdev",
    ]);
    const text = await nft("list table ip sleeps");
    expect(text).not.toContain("flags");
    expect(text).toContain('comment "mine"');
    expect(text).toContain("hook forward");
  });

  test("that can not be woken are named", async () => {
    const { wake } = rig();
    const tables = [{ family: "ip", name: "x".repeat(300), flags: 1 }] as const;
    await expect(wake(tables)).rejects.toThrow(/^waking the dormant table ip x+ failed: /);
  });
});
