import { describe } from "vitest";
import { iptables } from "../../netns/kernel-subjects.ts";
import { describeOverTime, describeSwitching } from "../../netns/over-time.ts";
import type { OverTimeSubject } from "../../netns/play.ts";

const IPVS: OverTimeSubject = {
  backend: "ipvs",
  options: { iptablesMode: "legacy" },
  quickRepair: { ipvsSyncPeriod: "1s" },
  harm: (network) => {
    network.exec("node-a", "ipvsadm", ["-C"]);
    network.exec("node-a", "ip", ["link", "delete", "kube-ipvs0"]);
    for (const program of ["iptables", "ip6tables"]) {
      for (const table of ["mangle", "nat", "filter"]) {
        network.exec("node-a", `${program}-legacy`, ["-t", table, "-F"]);
      }
    }
    network.exec("node-a", "ipset", ["flush"]);
  },
};

describe("ipvs", () => describeOverTime(IPVS));

// Both fill KUBE-SERVICES. What IPVS itself remembers of a connection goes with its virtual server.
describe("from iptables to ipvs", () => describeSwitching(iptables("legacy"), IPVS));
