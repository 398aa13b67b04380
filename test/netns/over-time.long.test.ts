import { describe } from "vitest";
import { requires } from "../support/requires.ts";
import { iptables } from "./kernel-subjects.ts";
import { describeOverTime } from "./over-time.ts";

describe("iptables-legacy", requires("linux", "root", "ip", "iptables"), () => {
  describeOverTime(iptables("legacy"));
});
