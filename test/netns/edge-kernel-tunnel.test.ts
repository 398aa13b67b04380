import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import type { KernelPathStats } from "../../src/edge/kernel-path/kernel-path.ts";
import { ATTACH_TYPE } from "../../src/platform/linux/bpf/bpf-numbers.ts";
import { openProgram, programsOfLink } from "../../src/platform/linux/bpf/bpf-objects.ts";
import { close } from "../../src/platform/linux/io-calls.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import { requires } from "../support/requires.ts";
import { EdgeNetwork, type HostName, overlay, type PartyName, underlay } from "./edge-network.ts";
import { EdgeTunnels, type PeerModes, SETUP_MS, TUNNEL_PORT, webService } from "./edge-tunnels.ts";

const NEEDS = requires("linux", "root", "ip", "curl", "ping");
const HOLDER = fileURLToPath(new URL("./tunnel-holder.fixture.ts", import.meta.url));
const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SOON = { timeout: 10_000, interval: 50 };
/** Longer than what follows one that the tunnel had stays behind it. */
const PAUSE_MS = 40;
const TURNS = 5;
const MODES: readonly (readonly [string, PeerModes])[] = [
  ["secure", ["secure"]],
  ["fast without keys", ["fast"]],
];

/** One connection, or one port, that asks so often; prints who answered each time. */
const TALK = {
  tcp: `
    const http = require("node:http");
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const ask = (left) => http.get({ host: process.argv[1], agent }, (response) => {
      response.setEncoding("utf8").on("data", (name) => console.log(name));
      response.on("end", () => left > 1 ? setTimeout(ask, ${PAUSE_MS}, left - 1) : process.exit());
    });
    ask(Number(process.argv[2]));`,
  udp: `
    const [, ip, turns] = process.argv;
    const udp = require("node:dgram").createSocket(ip.includes(":") ? "udp6" : "udp4");
    let left = Number(turns);
    udp.on("message", (bytes) => {
      console.log(String(bytes).split(" ")[0]);
      left -= 1;
      if (left === 0) process.exit();
    });
    setInterval(() => udp.send("x", 80, ip), ${PAUSE_MS});`,
} as const;

class KernelTunnels {
  readonly edge: EdgeTunnels;

  constructor(edge: EdgeTunnels) {
    this.edge = edge;
  }

  async kernel(host: HostName): Promise<KernelPathStats> {
    return (await this.edge.tunnel(host).stats()).kernelPath;
  }

  /** What passed in the kernel of a host while something was done: `sent`, `received`. */
  async passed(host: HostName, work: () => unknown): Promise<readonly [number, number]> {
    const before = await this.kernel(host);
    await work();
    const after = await this.kernel(host);
    expect([after.refused, after.failed]).toEqual([before.refused, before.failed]);
    return [after.sent - before.sent, after.received - before.received];
  }

  ping(party: PartyName, ip: string, count: number, intervalMs: number): string {
    const seconds = String(intervalMs / 1000);
    return this.edge.network.exec(party, "ping", "-q", "-c", String(count), "-i", seconds, ip);
  }

  talk(party: PartyName, how: keyof typeof TALK, ip: string): readonly string[] {
    const args = ["-e", TALK[how], ip, String(TURNS)];
    return this.edge.network
      .exec(party, process.execPath, ...args)
      .trim()
      .split("\n");
  }

  retransmitted(party: PartyName): number {
    const text = this.edge.network.exec(party, "cat", "/proc/self/net/snmp");
    const [names = [], values = []] = text
      .split("\n")
      .filter((line) => line.startsWith("Tcp:"))
      .map((line) => line.split(" "));
    return Number(values[names.indexOf("RetransSegs")]);
  }
}

/** Of some ten thousand segments. */
const FEW_AGAIN = 20;
const MOST_TIMES = 5;

describe.each(MODES)("tunnels with a kernel path, %s", NEEDS, (_name, modes) => {
  let edge: EdgeTunnels;
  let tunnels: KernelTunnels;

  beforeAll(async () => {
    // Where there are keys they change all the time, and nothing minds.
    edge = await EdgeTunnels.open(modes, { rekeyAfterMs: 1000, withoutKernelPath: ["b"] });
    tunnels = new KernelTunnels(edge);
    await edge.serveAll("b1", "c1");
    edge.apply([webService(["b", "c"])]);
    edge.get("a2", "10.30.0.3");
  }, SETUP_MS);

  afterAll(() => edge?.close());

  test.each(["10.30.0.3", "fdff::3"])("echoes pass in the kernels of both ends: %s", async (ip) => {
    const there = await tunnels.passed("c", async () => {
      const here = await tunnels.passed("a", () => tunnels.ping("a2", ip, TURNS, PAUSE_MS));
      // The first one is the tunnel's.
      for (const count of here) expect(count).toBeGreaterThanOrEqual(TURNS - 2);
    });
    for (const count of there) expect(count).toBeGreaterThanOrEqual(TURNS - 2);
  });

  test.each([
    ["tcp", "10.30.0.3"],
    ["tcp", "fdff::3"],
    ["udp", "10.30.0.3"],
    ["udp", "fdff::3"],
  ] as const)("short packets of a flow pass in the kernel: %s to %s", async (how, ip) => {
    const passed = await tunnels.passed("a", () => {
      expect(tunnels.talk("a2", how, ip)).toEqual(new Array(TURNS).fill("c1"));
    });
    for (const count of passed) expect(count).toBeGreaterThanOrEqual(TURNS - 2);
  });

  test("long and short packets of a connection come as they were sent", () => {
    let fewest = Number.POSITIVE_INFINITY;
    // A machine that is busy loses some, but hardly each time.
    for (let time = 0; time < MOST_TIMES && fewest >= FEW_AGAIN; time += 1) {
      const before = tunnels.retransmitted("c1");
      for (const ip of ["10.30.0.3", "fdff::3"]) expect(edge.isBulkRight("a2", ip)).toBe(true);
      fewest = Math.min(fewest, tunnels.retransmitted("c1") - before);
    }
    expect(fewest).toBeLessThan(FEW_AGAIN);
  });

  test("what is told includes what passed in the kernel", async () => {
    const stats = await edge.tunnel("a").stats();
    const bytesOut = () => stats.peers.find(({ node }) => node === "c")?.bytesOut ?? 0;
    const before = { ...stats.packets, bytesOut: bytesOut() };
    await tunnels.passed("a", () => tunnels.ping("a2", "10.30.0.3", TURNS, PAUSE_MS));
    const after = await edge.tunnel("a").stats();
    expect(after.packets.toPeers - before.toPeers).toBeGreaterThanOrEqual(TURNS);
    expect(after.packets.fromPeers - before.fromPeers).toBeGreaterThanOrEqual(TURNS);
    const out = after.peers.find(({ node }) => node === "c")?.bytesOut ?? 0;
    expect(out - before.bytesOut).toBeGreaterThan(84 * TURNS);
  });

  test("a flow whose instance goes is given another one", async () => {
    const args = ["-e", TALK.udp, "10.30.0.1", "1000"];
    const child = edge.network.spawn("a2", process.execPath, args, {
      stdio: ["ignore", "pipe", "inherit"],
    });
    onTestFinished(() => {
      child.kill("SIGKILL");
    });
    const answers: string[] = [];
    const { stdout } = child;
    if (stdout !== null) createInterface(stdout).on("line", (line) => answers.push(line));
    await vi.waitUntil(() => answers.length > 5, SOON);
    const [first] = answers;
    const other = first === "b1" ? "c1" : "b1";
    edge.apply([webService([other === "b1" ? "b" : "c"])]);
    await vi.waitUntil(() => answers.at(-1) === other, SOON);
    expect(new Set(answers)).toEqual(new Set([first, other]));
    const [sent] = await tunnels.passed("a", async () => {
      const { length } = answers;
      await vi.waitUntil(() => answers.length > length + 5, SOON);
    });
    expect(sent).toBeGreaterThan(2);
    edge.apply([webService(["b", "c"])]);
  });

  test("a node without one talks to one that has, both ways", async () => {
    const none = { sent: 0, received: 0, refused: 0, failed: 0 };
    const [sent] = await tunnels.passed("c", () => {
      expect(tunnels.ping("b2", "10.30.0.3", TURNS, PAUSE_MS)).toContain(`${TURNS} received`);
      expect(edge.get("b2", "10.30.0.3")).toBe("c1");
      expect(edge.isBulkRight("b2", "10.30.0.3")).toBe(true);
    });
    // Its answers.
    expect(sent).toBeGreaterThanOrEqual(TURNS - 2);
    const [asked] = await tunnels.passed("c", () => {
      const told = tunnels.ping("c2", overlay.v4("b", 1), TURNS, PAUSE_MS);
      expect(told).toContain(`${TURNS} received`);
    });
    expect(asked).toBeGreaterThanOrEqual(TURNS - 2);
    expect(await tunnels.kernel("b")).toEqual({
      isOpen: false,
      reason: "it is turned off",
      ...none,
    });
  });

  // The others have no keys, and do not follow who moves.
  if (modes[0] !== "secure") return;

  test("new keys under traffic: nothing is lost, and nothing refused", async () => {
    const completed = async () => (await edge.tunnel("a").stats()).handshakes.completed;
    const before = await completed();
    const passed = await tunnels.passed("c", () => {
      expect(tunnels.ping("a2", "10.30.0.3", 200, 10)).toContain("200 received");
    });
    for (const count of passed) expect(count).toBeGreaterThan(180);
    expect((await completed()) - before).toBeGreaterThanOrEqual(1);
    for (const host of ["a", "c"] as const) {
      const { incoming } = await edge.tunnel(host).stats();
      expect([incoming.notGenuine, incoming.strange]).toEqual([0, 0]);
    }
  });

  test("a host that moves is followed", async () => {
    edge.network.ip(
      "a",
      `addr add ${underlay.v4("a", 9)}/24 dev eth0`,
      `addr del ${underlay.v4("a")}/24 dev eth0`,
      `addr replace ${underlay.v4("a", 9)}/24 dev eth0`,
      "route replace default via 192.168.1.1",
    );
    const now = `${underlay.v4("a", 9)}:${TUNNEL_PORT}`;
    const seen = async () =>
      (await edge.tunnel("c").stats()).peers.find(({ node }) => node === "a")?.endpoint;
    await vi.waitUntil(async () => (await seen()) === now, SOON);
    const isBack = async () => {
      const before = await tunnels.kernel("a");
      tunnels.ping("a2", "10.30.0.3", 4, PAUSE_MS);
      const { sent, received } = await tunnels.kernel("a");
      return sent - before.sent >= 3 && received - before.received >= 3;
    };
    await vi.waitUntil(isBack, SOON);
  });
});

/** The programs that see what comes to a host, by their numbers. */
function programsAt(network: EdgeNetwork, host: HostName): readonly number[] {
  const [{ ifindex }] = JSON.parse(network.exec(host, "ip", "-j", "link", "show", "eth0"));
  return network.inside(host, () => programsOfLink(Number(ifindex), ATTACH_TYPE.tcxIngress));
}

test("nothing is left of a kernel path whose process is killed", NEEDS, async () => {
  const network = EdgeNetwork.open();
  onTestFinished(() => network.close());
  const options = {
    node: "a",
    tunName: "tun0",
    addresses: overlay.tun("a"),
    listen: ipAddress("0.0.0.0", TUNNEL_PORT),
    subnets: overlay.subnets("a"),
    serviceRanges: [],
    rehearses: false,
  };
  const endpoint = ipAddress(underlay.v4("b"), TUNNEL_PORT);
  const peer = { node: "b", endpoint, subnets: overlay.subnets("b"), modes: ["fast"] };
  const input = JSON.stringify({ options, state: { services: [], peers: [peer] } });
  const args = ["--import", import.meta.resolve("tsx"), HOLDER, input];
  const holder = network.spawn("a", process.execPath, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (holder.stdout === null) throw new Error("the holder says nothing");
  const [line] = await once(createInterface(holder.stdout), "line");
  expect(JSON.parse(String(line))).toMatchObject({ isOpen: true });
  const [id = 0, ...others] = programsAt(network, "a");
  expect(others).toEqual([]);
  close(openProgram(id));
  holder.kill("SIGKILL");
  await once(holder, "exit");
  await vi.waitFor(() => expect(programsAt(network, "a")).toEqual([]), SOON);
  await vi.waitFor(() => expect(() => openProgram(id)).toThrow("ENOENT"), SOON);
});
