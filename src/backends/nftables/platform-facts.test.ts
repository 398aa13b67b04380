import { describe, expect, onTestFinished, test } from "vitest";
import { Stage } from "../../../test/netns/stage.ts";
import { requires } from "../../../test/support/requires.ts";
import { TOPOLOGY } from "../../core/route/scenarios/topology.ts";

const PORT = 4000;
const { workloads, loopback, outside, edgeIP, targetPort } = TOPOLOGY;

function openStage(ruleset: string): Stage {
  const stage = Stage.open();
  onTestFinished(() => stage.close());
  stage.network.exec("node-a", "nft", [ruleset]);
  return stage;
}

describe("what the kernel refuses", requires("linux", "root", "ip", "nft"), () => {
  test("an answer to what was sent from ::1 does not come back", async () => {
    const target = `[${workloads["web-a"].addresses.v6}]:${targetPort}`;
    const stage = openStage(`table ip6 facts {
      chain output { type nat hook output priority -100; udp dport ${PORT} dnat to ${target}; }
      chain postrouting { type nat hook postrouting priority srcnat; masquerade; }
    }`);
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
    const stage = openStage(`table ip facts {
      chain prerouting {
        type nat hook prerouting priority dstnat
        ip daddr ${edgeIP.v4} meta l4proto tcp dnat to 198.18.0.1:80
      }
    }`);
    stage.network.ip("node-a", ["route add unreachable 198.18.0.0/15"]);
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
