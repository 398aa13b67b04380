import { describe } from "vitest";
import { IPTABLES_MODES } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { requires } from "../support/requires.ts";
import { iptables, NFTABLES } from "./kernel-subjects.ts";
import { describeOverTime, describeSwitching } from "./over-time.ts";
import { describeSecondTry } from "./second-try.ts";

for (const mode of IPTABLES_MODES) {
  describe(`iptables-${mode}`, requires("linux", "root", "ip", "iptables"), () => {
    describeOverTime(iptables(mode));
  });
}

describe("nftables", requires("linux", "root", "ip", "nft"), () => {
  describeOverTime(NFTABLES);
  describeSecondTry();
});

describe("switching", requires("linux", "root", "ip", "nft", "iptables"), () => {
  describe("from iptables to nftables", () => describeSwitching(iptables("nft"), NFTABLES));
  describe("from nftables to iptables", () => describeSwitching(NFTABLES, iptables("nft")));
});
