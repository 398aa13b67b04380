import type { IptablesMode } from "../../src/platform/linux/iptables/iptables-tool.ts";
import type { OverTimeSubject } from "./play.ts";

export function iptables(mode: IptablesMode): OverTimeSubject {
  return {
    backend: "iptables",
    options: { iptablesMode: mode, iptablesMinSyncPeriod: "0s" },
    quickRepair: { iptablesSyncPeriod: "1s" },
    harm: (network) => {
      for (const program of ["iptables", "ip6tables"]) {
        for (const table of ["nat", "filter"]) {
          network.exec("node-a", `${program}-${mode}`, ["-t", table, "-F"]);
        }
      }
    },
  };
}

export const NFTABLES: OverTimeSubject = {
  backend: "nftables",
  options: {},
  quickRepair: { syncPeriod: "1s" },
  harm: (network) => void network.exec("node-a", "nft", ["flush", "ruleset"]),
};
