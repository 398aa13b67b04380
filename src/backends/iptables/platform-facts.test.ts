import { describe, expect, onTestFinished, test } from "vitest";
import { Stage } from "../../../test/netns/stage.ts";
import { requires } from "../../../test/support/requires.ts";
import { TOPOLOGY } from "../../core/route/scenarios/topology.ts";

const PORT = 4000;
const { workloads, loopback, outside, edgeIP, targetPort } = TOPOLOGY;

function openStage(): Stage {
  const stage = Stage.open();
  onTestFinished(() => stage.close());
  return stage;
}

describe("what the kernel refuses", requires("linux", "root", "ip", "iptables"), () => {
  test("an answer to what was sent from ::1 does not come back", async () => {
    const stage = openStage();
    const rule = ["-p", "udp", "-d", loopback.v6, "--dport", String(PORT)];
    const target = [
      "-j",
      "DNAT",
      "--to-destination",
      `[${workloads["web-a"].addresses.v6}]:${targetPort}`,
    ];
    stage.network.exec("node-a", "ip6tables", ["-t", "nat", "-A", "OUTPUT", ...rule, ...target]);
    stage.network.exec("node-a", "ip6tables", [
      "-t",
      "nat",
      "-A",
      "POSTROUTING",
      "-j",
      "MASQUERADE",
    ]);
    const call = {
      party: "node-a",
      protocol: "UDP",
      from: loopback.v6,
      to: loopback.v6,
      port: PORT,
    } as const;
    await expect(stage.callInVain([call])).rejects.toThrow("its answer did not come back");
  });

  test("a packet that is sent elsewhere still needs a route to there", async () => {
    const stage = openStage();
    stage.network.ip("node-a", ["route add unreachable 198.18.0.0/15"]);
    const rule = ["-p", "tcp", "-d", edgeIP.v4, "-j", "DNAT", "--to-destination", "198.18.0.1:80"];
    stage.network.exec("node-a", "iptables", ["-t", "nat", "-A", "PREROUTING", ...rule]);
    const call = {
      party: "outside",
      protocol: "TCP",
      from: outside.v4,
      to: edgeIP.v4,
      port: PORT,
    } as const;
    const [outcome] = await stage.call([call]);
    expect(outcome?.kind).not.toBe("answered");
  });
});
