import { expect, test } from "vitest";
import { CoreError } from "../../../core/errors.ts";
import type { Exec } from "../exec.ts";
import { detectMode } from "./detect-mode.ts";

/** What `iptables-MODE-save` prints; a mode that is missing has no tools. */
function execWith(saved: Readonly<Record<string, string>>): Exec {
  return {
    run: async (program, args) => {
      const mode = program.split("-")[1] ?? "";
      const stdout = saved[mode];
      if (stdout === undefined) throw new CoreError("ERR_NOT_POSSIBLE_HERE", `no ${program}`);
      const [, table] = args;
      const isThere = table === undefined || stdout.includes(`*${table}`);
      return { exitCode: 0, stdout: isThere ? stdout : "", stderr: "" };
    },
  };
}

const RULES = "*filter\n-A INPUT -j ACCEPT\n-A INPUT -j DROP\nCOMMIT\n";
const KUBELET = "*mangle\n:KUBE-KUBELET-CANARY - [0:0]\nCOMMIT\n";
const PROXY = "*filter\n:KUBE-PROXY-CANARY - [0:0]\nCOMMIT\n";

test.each([
  ["kubelet's hints win over any number of rules", { nft: RULES, legacy: KUBELET }, "legacy"],
  ["a proxy's hints win, too", { nft: PROXY, legacy: RULES }, "nft"],
  ["hints in both mean the newer one", { nft: KUBELET, legacy: KUBELET }, "nft"],
  ["without hints more rules win", { nft: "", legacy: RULES }, "legacy"],
  ["as many rules mean the newer one", { nft: RULES, legacy: RULES }, "nft"],
  ["no rules mean the newer one", { nft: "", legacy: "" }, "nft"],
  ["the only one wins", { legacy: "" }, "legacy"],
])("%s", async (_, saved, mode) => {
  expect((await detectMode(execWith(saved)))?.mode).toBe(mode);
});

test("without tools there is none", async () => {
  expect(await detectMode(execWith({}))).toBeUndefined();
});
