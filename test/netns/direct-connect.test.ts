import { mkdirSync, openSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from "vitest";
import * as z from "zod";
import { runBackendContract } from "../../src/backends/backend.contract.ts";
import { shareTolerance } from "../../src/backends/contract-judge.ts";
import { NFTABLES as NFTABLES_BACKEND } from "../../src/backends/nftables/definition.ts";
import { FAMILIES, type Family, WILDCARDS } from "../../src/core/model/address.ts";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { SCENARIOS } from "../../src/core/route/scenarios.ts";
import { ATTACH_TYPE } from "../../src/platform/linux/bpf/bpf-numbers.ts";
import { programsOf } from "../../src/platform/linux/bpf/bpf-objects.ts";
import { openConntrackTable } from "../../src/platform/linux/conntrack/conntrack-table.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { explainDirect } from "../../src/platform/linux/live-rules/explain-direct.ts";
import { readDirect, readWorkloadDirect } from "../../src/platform/linux/live-rules/read-direct.ts";
import { requires } from "../support/requires.ts";
import { iptables, NFTABLES } from "./kernel-subjects.ts";
import { openNamespaces } from "./namespace-driver.ts";
import { Lines } from "./namespace-lines.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import { OwnCgroup } from "./own-cgroup.ts";
import type { PartyName } from "./plan-network.ts";
import { at, endpoint, type OverTimeSubject, Play, service } from "./play.ts";

const { clusterIP, port, targetPort, workloads } = TOPOLOGY;
const WEIGHTED_CALLS = 300;
const CALLS = 40;
const CHANGES = 12;
const CALLS_A_CHANGE = 20;

let cgroup: OwnCgroup | undefined;
const folder = (): string => cgroup?.path ?? "";

const direct = () => ({ directConnect: "on", directConnectCgroup: folder() });
/** All are of one cgroup here: that of this test. */
const workloadsToo = () => ({ ...direct(), directConnectWorkloads: folder() });

/** How many of the tracked connections to the cluster IP were translated. */
async function translatedFlows(network: NamespaceNetwork, family: Family): Promise<number> {
  const table = network.inside("node-a", openConntrackTable);
  let count = 0;
  try {
    await table.list(
      { family, protocol: "TCP", dstPort: port },
      (protocol, to) => protocol === "TCP" && to === port,
      ({ original, isDestinationNat }) => {
        if (original.dst === clusterIP[family] && isDestinationNat) count += 1;
      },
    );
    return count;
  } finally {
    table.close();
  }
}

/** Whoever answers sockets that are bound to no address. */
function callFrom(play: Play, party: PartyName, family: Family, count: number) {
  return play.callMany(family, count, { party, from: WILDCARDS[family] });
}

const peerSchema = z.object({ peer: z.string(), source: z.string(), at: z.string() });

/**
 * A program of the node, or of another party, that calls; what it is told of its peer, and what the server tells.
 * @param cgroup in which it calls
 */
async function callByProgram(
  network: NamespaceNetwork,
  ip: string,
  party: PartyName = "node-a",
  cgroup: string = folder(),
) {
  const moveTo = (path: string) =>
    `require("node:fs").writeFileSync(${JSON.stringify(join(path, "cgroup.procs"))}, String(process.pid));`;
  const script = `${moveTo(cgroup)}
    const socket = require("node:net").connect(${port}, ${JSON.stringify(ip)});
    let text = "";
    let peer = "";
    socket.on("connect", () => { peer = socket.remoteAddress + " " + socket.remotePort; });
    socket.on("data", (chunk) => { text += chunk; });
    socket.on("end", () => {
      ${moveTo(folder())}
      console.log(JSON.stringify({ ...JSON.parse(text), peer }));
    });
    setInterval(() => undefined, 1000);`;
  return peerSchema.parse(JSON.parse(await new Lines(network, party, script).next()));
}

function describeDirect(subject: OverTimeSubject): void {
  const open = (): Promise<Play> => Play.open(subject, direct());

  test("programs are led to an endpoint at once, and told the address that they asked for", async () => {
    const play = await open();
    await play.apply(service(), endpoint("web-a"));
    const { network } = play.stage;
    const mapped = `::ffff:${clusterIP.v4}`;
    const asked: readonly (readonly [string, Family])[] = [
      [clusterIP.v4, "v4"],
      [clusterIP.v6, "v6"],
      [mapped, "v4"],
    ];
    const seen = await Promise.all(asked.map(([ip]) => callByProgram(network, ip)));
    for (const [index, [ip, family]] of asked.entries()) {
      expect(seen[index]).toEqual({
        peer: `${ip} ${port}`,
        at: workloads["web-a"].addresses[family],
        // Of the link to the workload: an address of the node.
        source: { v4: "10.99.1.1", v6: "fd00:99:1::1" }[family],
      });
      expect(await translatedFlows(network, family)).toBe(0);
    }
  });

  test("weights hold; who is gone gets nothing; other namespaces and bound sockets meet the rules", async () => {
    const play = await open();
    const { network } = play.stage;
    await play.apply(service(), endpoint("web-a", { weight: 1 }), endpoint("web-b", { weight: 3 }));
    const answers = await callFrom(play, "node-a", "v4", WEIGHTED_CALLS);
    const share = answers.filter((one) => one === at("web-a")).length / WEIGHTED_CALLS;
    expect(Math.abs(share - 0.25)).toBeLessThan(shareTolerance(0.25, WEIGHTED_CALLS));
    await play.apply(service(), endpoint("web-b"));
    for (const family of FAMILIES) {
      const left = await callFrom(play, "node-a", family, CALLS);
      expect(new Set(left)).toEqual(new Set([at("web-b")]));
      expect(await translatedFlows(network, family)).toBe(0);
      await callFrom(play, "client-a", family, 1);
      expect(await translatedFlows(network, family)).toBe(1);
      const bound = { party: "node-a", from: TOPOLOGY.nodes["node-a"].addresses[family] } as const;
      expect(await play.callMany(family, 1, bound)).toEqual([at("web-b")]);
      expect(await translatedFlows(network, family)).toBe(2);
    }
  });

  test("workloads that are named are led from namespaces of their own, as the node is from its own", async () => {
    const play = await Play.open(subject, workloadsToo());
    await play.apply(service(), endpoint("web-a"), endpoint("web-b"));
    const { network } = play.stage;
    for (const family of FAMILIES) {
      for (const party of ["client-a", "node-a"] as const) {
        const answers = await callFrom(play, party, family, CALLS);
        expect(new Set(answers)).toEqual(new Set([at("web-a"), at("web-b")]));
      }
      expect(await translatedFlows(network, family)).toBe(0);
      const own = TOPOLOGY.workloads["client-a"].addresses[family];
      await play.callMany(family, 1, { party: "client-a", from: own });
      expect(await translatedFlows(network, family)).toBe(1);
    }
    const packet = { protocol: "TCP", src: "10.99.9.9", dst: clusterIP.v4, dstPort: port } as const;
    const read = network.inside("node-a", () =>
      readWorkloadDirect({ ...packet, from: "workload" }),
    );
    expect(read).toHaveLength(1);
    expect(read[0]?.shares).toHaveLength(2);
    expect(await callByProgram(network, clusterIP.v4)).toMatchObject({
      peer: `${clusterIP.v4} ${port}`,
    });
  });

  test("only workloads of the cgroup that is named are led, and none when it is gone", async () => {
    const pods = `${folder()}-pods`;
    mkdirSync(pods);
    onTestFinished(() => rmSync(pods, { recursive: true, force: true }));
    const play = await Play.open(subject, { ...direct(), directConnectWorkloads: pods });
    await play.apply(service(), endpoint("web-a"));
    const { network } = play.stage;
    const packet = { protocol: "TCP", src: "10.99.9.9", dstPort: port, from: "workload" } as const;
    for (const family of FAMILIES) {
      const dst = clusterIP[family];
      expect(await callByProgram(network, dst, "client-a", pods)).toEqual({
        peer: `${dst} ${port}`,
        at: workloads["web-a"].addresses[family],
        // Its own, of its link to the node.
        source: { v4: "10.99.0.2", v6: "fd00:99::2" }[family],
      });
      expect(await translatedFlows(network, family)).toBe(0);
      await callByProgram(network, dst, "client-a");
      expect(await translatedFlows(network, family)).toBe(1);
      const explain = () => network.inside("node-a", () => explainDirect({ ...packet, dst }));
      expect((await explain()).lines[0]).toContain("_wconn");
    }
    rmdirSync(pods);
    const toService = { ...packet, dst: clusterIP.v4 };
    // The kernel takes its time.
    await expect
      .poll(async () => (await network.inside("node-a", () => explainDirect(toService))).lines)
      .toEqual([]);
  });

  test("what only the rules can do, they do", async () => {
    const play = await open();
    const { network } = play.stage;
    await play.apply(service({ affinitySeconds: 60 }), endpoint("web-a"), endpoint("web-b"));
    expect(new Set(await callFrom(play, "node-a", "v4", CALLS)).size).toBe(1);
    expect(await translatedFlows(network, "v4")).toBe(CALLS);
    await play.apply(service());
    expect(await callFrom(play, "node-a", "v4", 1)).toEqual(["refused"]);
  });

  test("while lists change nobody is refused, and all come to who serves", async () => {
    const play = await open();
    const all = [endpoint("web-a"), endpoint("web-b"), endpoint("web-c")];
    const answers = new Set<string>();
    await play.apply(service(), ...all);
    for (let change = 0; change < CHANGES; change += 1) {
      const gone = change % all.length;
      const [, ...calls] = await Promise.all([
        play.apply(service(), ...all.filter((_, index) => index !== gone)),
        ...FAMILIES.map((family) => callFrom(play, "node-a", family, CALLS_A_CHANGE)),
      ]);
      for (const answer of calls.flat()) answers.add(answer);
    }
    expect([...answers].sort()).toEqual([at("web-a"), at("web-b"), at("web-c")]);
  });

  test("after a crash no program is left, and the rules serve", async () => {
    const play = await open();
    const { network } = play.stage;
    await play.apply(service(), endpoint("web-a"));
    const cgroupFd = openSync(folder(), "r");
    onTestFinished(() => void close(cgroupFd));
    const { connect4, connect6, getpeername4, getpeername6 } = ATTACH_TYPE;
    const hooks = [connect4, connect6, getpeername4, getpeername6];
    const programs = () => hooks.map((hook) => programsOf(cgroupFd, hook, "own").length);
    const packet = {
      protocol: "TCP",
      src: "10.99.1.1",
      dst: clusterIP.v4,
      dstPort: port,
      from: "node",
    } as const;
    const read = () => network.inside("node-a", () => readDirect(packet, folder()));
    expect(read()[0]?.shares).toEqual([
      { address: workloads["web-a"].addresses.v4, port: targetPort, probability: 1 },
    ]);
    expect(programs()).toEqual([1, 1, 1, 1]);
    await play.crash();
    expect(programs()).toEqual([0, 0, 0, 0]);
    expect(read()).toEqual([]);
    expect(await callFrom(play, "node-a", "v4", 1)).toEqual([at("web-a")]);
    expect(await translatedFlows(network, "v4")).toBe(1);
  });
}

describe("direct connections", requires("linux", "root", "cgroup2", "ip"), () => {
  beforeAll(async () => {
    cgroup = await OwnCgroup.enter();
  });
  afterAll(() => cgroup?.leave());

  describe("nftables", requires("nft"), () => {
    describeDirect(NFTABLES);

    // The rest of the table does not meet a connect(2) on this node.
    describe.each([
      ["node", direct],
      ["workload", workloadsToo],
    ] as const)("called by a %s", (from, options) => {
      runBackendContract({
        backend: NFTABLES_BACKEND.name,
        capabilities: NFTABLES_BACKEND.capabilities,
        concurrency: 2,
        scenarios: SCENARIOS.filter(
          ({ packet, policy }) =>
            packet.from === from &&
            // Refused at the start together with workloads.
            !(from === "workload" && policy.masqueradeAll) &&
            packet.protocol === "TCP" &&
            Object.values(clusterIP).includes(packet.dst),
        ),
        deviations: [],
        open: () =>
          openNamespaces({ backend: NFTABLES_BACKEND.name, options: options(), isUnbound: true }),
      });
    });
  });

  describe("iptables-nft", requires("iptables"), () => {
    describeDirect(iptables("nft"));
  });
});
