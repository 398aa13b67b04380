import { describe, expect, onTestFinished, test } from "vitest";
import { TOPOLOGY } from "../../../src/core/route/scenarios/topology.ts";
import { Stage, type StageCall } from "../../netns/stage.ts";

const { workloads, clusterIP, edgeIP, outside, loopback, targetPort } = TOPOLOGY;
const PORT = 4000;
const SERVERS = ["web-a", "web-b", "web-c"] as const;

function openStage(): Stage {
  const stage = Stage.open();
  onTestFinished(() => stage.close());
  return stage;
}

/** `ipvsadm`, in the node under test. */
function ipvs(stage: Stage, ...args: readonly string[]): void {
  stage.network.exec("node-a", "ipvsadm", args);
}

function call(to: string, from: string = outside.v4): StageCall {
  const party = from === outside.v4 ? "outside" : "node-a";
  return { party, protocol: "TCP", from, to, port: PORT };
}

describe("what IPVS refuses", () => {
  test("a packet that is sent elsewhere still needs a route to there", async () => {
    const stage = openStage();
    stage.network.ip("node-a", [
      "route add unreachable 198.18.0.0/15",
      `address add ${edgeIP.v4} dev lo`,
    ]);
    ipvs(stage, "-A", "-t", `${edgeIP.v4}:${PORT}`, "-s", "rr");
    ipvs(stage, "-a", "-t", `${edgeIP.v4}:${PORT}`, "-r", "198.18.0.1:80", "-m");
    const [outcome] = await stage.callInVain([call(edgeIP.v4)]);
    expect(outcome?.kind).not.toBe("answered");
  });

  test("what is sent from 127.0.0.1 does not leave the machine", async () => {
    const stage = openStage();
    const there = `${loopback.v4}:${PORT}`;
    stage.network.exec("node-a", "sysctl", ["-w", "net.ipv4.conf.all.route_localnet=1"]);
    stage.network.exec("node-a", "sysctl", ["-w", "net.ipv4.vs.conntrack=1"]);
    stage.network.exec("node-a", "iptables", [
      "-t",
      "nat",
      "-A",
      "POSTROUTING",
      "-j",
      "MASQUERADE",
    ]);
    ipvs(stage, "-A", "-t", there, "-s", "rr");
    const server = `${workloads["web-b"].addresses.v4}:${targetPort}`;
    ipvs(stage, "-a", "-t", there, "-r", server, "-m");
    const [outcome] = await stage.callInVain([call(loopback.v4, loopback.v4)]);
    expect(outcome?.kind).not.toBe("answered");
  });

  test("a virtual server on an address that the machine does not have serves nobody", async () => {
    const stage = openStage();
    const there = `${clusterIP.v4}:${PORT}`;
    ipvs(stage, "-A", "-t", there, "-s", "rr");
    ipvs(stage, "-a", "-t", there, "-r", `${workloads["web-b"].addresses.v4}:${targetPort}`, "-m");
    expect((await stage.callInVain([call(clusterIP.v4)]))[0]?.kind).not.toBe("answered");
    stage.network.ip("node-a", [`address add ${clusterIP.v4} dev lo`]);
    expect((await stage.call([call(clusterIP.v4)]))[0]?.kind).toBe("answered");
  });

  test("a client stays with its server beyond the time-out", async () => {
    const stage = openStage();
    const there = `${clusterIP.v4}:${PORT}`;
    stage.network.ip("node-a", [`address add ${clusterIP.v4} dev lo`]);
    ipvs(stage, "-A", "-t", there, "-s", "rr", "-p", "1");
    for (const name of SERVERS) {
      ipvs(stage, "-a", "-t", there, "-r", `${workloads[name].addresses.v4}:${targetPort}`, "-m");
    }
    const answers = new Set<string>();
    const ask = async (): Promise<void> => {
      const [outcome] = await stage.call([call(clusterIP.v4)]);
      if (outcome?.kind === "answered") answers.add(outcome.text.replace(/ from .*/, ""));
    };
    await ask();
    // A client of another address shows when the time-out is over for those who do not call.
    await new Promise((resolve) => setTimeout(resolve, 2500));
    for (let count = 0; count < SERVERS.length; count += 1) await ask();
    const servers = stage.network.exec("node-a", "ipvsadm", ["-Lcn"]);
    // A connection that is remembered, in whichever state, beside the entry of the client itself.
    expect(servers).toMatch(/^TCP +\d+:\d+ +(?!NONE)/m);
    const used = stage.network.exec("node-a", "ipvsadm", ["-Ln", "--stats"]);
    const withConnections = used.split("\n").filter((line) => /-> \S+ +[1-9]/.test(line));
    expect(withConnections).toHaveLength(1);
  });
});
