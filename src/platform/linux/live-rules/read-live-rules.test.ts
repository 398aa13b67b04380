import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import type { TableState } from "../../../wire/netlink/nftables/table-messages.ts";
import type { Exec } from "../exec.ts";
import { readLiveRules } from "./read-live-rules.ts";

const SAVED = "*filter\n:FORWARD ACCEPT [0:0]\nCOMMIT\n";
const TABLES: readonly TableState[] = [
  { family: "ip", name: "filter", flags: 0 },
  { family: "ip6", name: "filter", flags: 0 },
  { family: "inet", name: "other", flags: 0 },
  { family: "arp", name: "other", flags: 0 },
  { family: "bridge", name: "asleep", flags: 1 },
];

/** A machine that has only these programs. */
const execOf = (outputs: Readonly<Record<string, string>>): Exec => ({
  run: async (program) => {
    const stdout = outputs[program];
    if (stdout !== undefined) return { exitCode: 0, stdout, stderr: "" };
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", `there is no program ${program}`);
  },
});

test("without nft, tables that iptables-nft does not have are told to be unread", async () => {
  const exec = execOf({ "iptables-nft-save": SAVED, "ip6tables-nft-save": SAVED });
  const rules = await readLiveRules({ exec, listTables: async () => TABLES });
  expect([...rules.chains.keys()]).toContain("iptables-nft filter FORWARD");
  expect(rules.unreadTables).toEqual(["inet other"]);
});

test("the legacy tools alone ask for no tables of nftables", async () => {
  const exec = execOf({ "iptables-legacy-save": SAVED });
  const listTables = () => Promise.reject(new Error("there is no nftables"));
  expect((await readLiveRules({ exec, listTables })).unreadTables).toEqual([]);
});
