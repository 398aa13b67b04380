import { describe } from "vitest";
import { requires } from "../support/requires.ts";
import { iptables, NFTABLES } from "./kernel-subjects.ts";
import { describeOverTime, describeReplacing, describeSwitching } from "./over-time.ts";
import { describeSecondTry } from "./second-try.ts";

// The same lines for iptables-legacy are a long test.
describe("iptables-nft", requires("linux", "root", "ip", "iptables"), () => {
  describeOverTime(iptables("nft"));
});

describe("nftables", requires("linux", "root", "ip", "nft"), () => {
  describeOverTime(NFTABLES);
  describeSecondTry();
});

describe("switching", requires("linux", "root", "ip", "nft", "iptables"), () => {
  describe("from iptables to nftables", () => {
    describeSwitching(iptables("nft"), NFTABLES);
    describeReplacing(iptables("nft"), NFTABLES);
  });

  describe("from nftables to iptables", () => {
    describeSwitching(NFTABLES, iptables("nft"));
    describeReplacing(NFTABLES, iptables("nft"));
  });
});
