import { describe } from "vitest";
import { IPTABLES_MODES, type IptablesMode } from "../../src/backends/iptables/iptables-tool.ts";
import { requires } from "../support/requires.ts";
import { describeOverTime, describeSwitching, type OverTimeSubject } from "./over-time.ts";

function iptables(mode: IptablesMode): OverTimeSubject {
  return {
    backend: "iptables",
    options: { iptablesMode: mode, iptablesMinSyncPeriod: "0s" },
    quickRepair: { iptablesSyncPeriod: "1s" },
    harm: (network) => {
      for (const table of ["nat", "filter"]) {
        network.exec("node-a", `iptables-${mode}`, ["-t", table, "-F"]);
      }
    },
  };
}

const NFTABLES: OverTimeSubject = {
  backend: "nftables",
  options: {},
  quickRepair: { syncPeriod: "1s" },
  harm: (network) => void network.exec("node-a", "nft", ["flush", "ruleset"]),
};

for (const mode of IPTABLES_MODES) {
  describe(`iptables-${mode}`, requires("linux", "root", "ip", "iptables"), () => {
    describeOverTime(iptables(mode));
  });
}

describe("nftables", requires("linux", "root", "ip", "nft"), () => {
  describeOverTime(NFTABLES);
});

describe("switching", requires("linux", "root", "ip", "nft", "iptables"), () => {
  describe("from iptables to nftables", () => describeSwitching(iptables("nft"), NFTABLES));
  describe("from nftables to iptables", () => describeSwitching(NFTABLES, iptables("nft")));
});
