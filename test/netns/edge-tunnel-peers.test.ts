import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { generateTunnelKey, publicTunnelKey } from "../../src/edge/tunnel/tunnel-keys.ts";
import type { TunnelStats } from "../../src/edge/tunnel/tunnel-messages.ts";
import { packetOf } from "../../src/wire/ip/packets.fixture.ts";
import { requires } from "../support/requires.ts";
import { seededBytes } from "../support/seeded-random.ts";
import { overlay, underlay } from "./edge-network.ts";
import { EdgeTunnels, SETUP_MS, TUNNEL_PORT, webService } from "./edge-tunnels.ts";

const NEEDS = requires("linux", "root", "ip", "curl", "ping");

/** Asks again and again by one connection, until its input ends; prints who answered, and its own port. */
const TALK = `
  const http = require("node:http");
  const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
  let isOver = false;
  process.stdin.resume().on("end", () => { isOver = true; });
  const ask = () => {
    const request = http.get({ host: process.argv[1], agent }, (response) => {
      const { localPort } = request.socket;
      response.setEncoding("utf8").on("data", (name) => console.log(name + " from " + localPort));
      response.on("end", () => (isOver ? process.exit() : setTimeout(ask, 20)));
    });
    request.on("error", (error) => { console.log(error.code); process.exit(); });
  };
  ask();`;

/** Sends datagrams from a host to the tunnel of another. */
async function sendRaw(
  edge: EdgeTunnels,
  from: "a" | "b" | "c",
  datagrams: readonly Uint8Array[],
  port: number,
): Promise<void> {
  const script = `
    const udp = require("node:dgram").createSocket("udp4");
    udp.bind(${port}, () => {
      const all = ${JSON.stringify(datagrams.map((bytes) => Buffer.from(bytes).toString("base64")))};
      let left = all.length;
      for (const each of all) udp.send(Buffer.from(each, "base64"), ${TUNNEL_PORT}, "${underlay.v4("b")}", () => {
        left -= 1;
        if (left === 0) udp.close();
      });
    });`;
  const child = edge.network.spawn(from, process.execPath, ["-e", script], { stdio: "inherit" });
  await once(child, "exit");
}

describe("peers of a secure tunnel", NEEDS, () => {
  let edge: EdgeTunnels;
  const asked: string[] = [];

  beforeAll(async () => {
    edge = await EdgeTunnels.open(["secure"], {
      lookUp: async (address) => {
        asked.push(address);
        if (address !== "10.30.0.1") return false;
        edge.apply([webService(["c"])]);
        return true;
      },
    });
    await edge.serveAll("b1", "c1");
  }, SETUP_MS);

  afterAll(() => edge?.close());

  test("an address that is not known is asked for once, and its first packet is not lost", async () => {
    const curl = edge.network.spawn("a2", "curl", ["-sS", "-m", "5", "http://10.30.0.1/"]);
    const [answer] = curl.stdout === null ? [] : await once(curl.stdout, "data");
    expect(String(answer)).toBe("c1");
    const nobody = edge.network.spawn("a2", "ping", [
      "-c",
      "3",
      "-i",
      "0.2",
      "-W",
      "1",
      "10.30.9.9",
    ]);
    // Meanwhile others go on.
    expect(edge.get("a2", "10.30.0.1")).toBe("c1");
    await once(nobody, "exit");
    expect(asked).toEqual(["10.30.0.1", "10.30.9.9"]);
  });

  test("a connection goes on when the address of its peer changes", async () => {
    edge.apply([webService(["b"])]);
    const talk = edge.network.spawn("a2", process.execPath, ["-e", TALK, "10.30.0.1"], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    const answers: string[] = [];
    talk.stdout?.setEncoding("utf8").on("data", (text: string) => answers.push(text));
    await vi.waitUntil(() => answers.length > 0, { timeout: 10_000 });
    const { network } = edge;
    network.ip(
      "b",
      `addr add ${underlay.v4("b", 9)}/24 dev eth0`,
      `addr del ${underlay.v4("b")}/24 dev eth0`,
      `addr replace ${underlay.v4("b", 9)}/24 dev eth0`,
      "route replace default via 192.168.2.1",
    );
    await vi.waitUntil(
      async () =>
        (await edge.tunnel("a").stats()).peers.find(({ node }) => node === "b")?.endpoint ===
        `${underlay.v4("b", 9)}:${TUNNEL_PORT}`,
      { timeout: 10_000 },
    );
    expect(edge.get("a2", "10.30.0.1")).toBe("b1");
    const before = answers.length;
    await vi.waitUntil(() => answers.length > before, { timeout: 10_000 });
    talk.stdin?.end();
    await once(talk, "exit");
    const lines = answers.join("").trim().split("\n");
    // All on one connection, with nothing but this server.
    expect(new Set(lines)).toEqual(new Set([lines[0]]));
    expect(lines[0]).toMatch(/^b1 from \d+$/);
    network.ip(
      "b",
      `addr add ${underlay.v4("b")}/24 dev eth0`,
      `addr del ${underlay.v4("b", 9)}/24 dev eth0`,
      `addr replace ${underlay.v4("b")}/24 dev eth0`,
      "route replace default via 192.168.2.1",
    );
    await vi.waitUntil(
      async () =>
        (await edge.tunnel("a").stats()).peers.find(({ node }) => node === "b")?.endpoint ===
        `${underlay.v4("b")}:${TUNNEL_PORT}`,
      { timeout: 10_000 },
    );
  });

  test("random and forged datagrams are counted, and nothing else", async () => {
    // Ends of connections may be said again where an address changed meanwhile.
    await vi.waitUntil(() => edge.network.exec("b1", "ss", "-Htn") === "", { timeout: 10_000 });
    const before = await edge.tunnel("b").stats();
    const packet = packetOf({
      source: overlay.v4("a", 1),
      destination: overlay.v4("b", 1),
      protocol: "echo",
    });
    const fast = Buffer.concat([Buffer.from([0x11, ...new Array(15).fill(0)]), packet]);
    const random = Array.from({ length: 60 }, (_, seed) => seededBytes(seed, 20 + seed * 20));
    const typed = random.map((random, index) => {
      const bytes = Buffer.from(random);
      bytes[0] = [1, 2, 4, 0x11][index % 4] ?? 0;
      return bytes;
    });
    await sendRaw(edge, "c", [packet, fast, ...typed, ...random], 50_999);
    const refused = ({ handshakes, incoming }: TunnelStats) =>
      handshakes.refused + incoming.strange;
    const after = await vi.waitUntil(async () => {
      const stats = await edge.tunnel("b").stats();
      return refused(stats) - refused(before) === 2 + 60 + 60 && stats;
    });
    expect(after.packets.fromPeers - before.packets.fromPeers).toBe(0);
    expect(edge.get("a2", "10.30.0.1")).toBe("b1");
  });

  test("a node with another key gets no session, and none without a key is taken", async () => {
    const stranger = publicTunnelKey(generateTunnelKey());
    const state = edge.state("c");
    const peers = state.peers.map((peer) => ({
      ...peer,
      publicKey: peer.node === "a" ? stranger : peer.publicKey,
    }));
    edge.tunnel("c").apply({ ...state, peers });
    await vi.waitUntil(async () => (await edge.tunnel("a").stats()).handshakes.refused > 0, {
      timeout: 10_000,
    });
    const stats = await edge.tunnel("c").stats();
    expect(stats.peers.find(({ node }) => node === "a")?.mode).toBeUndefined();
    const open = {
      ...state.peers[0],
      node: "a",
      modes: ["secure"] as const,
      publicKey: undefined,
      subnets: [],
    };
    expect(() => edge.tunnel("c").apply({ services: [], peers: [open] })).toThrow(
      "peer a: secure needs its public key",
    );
    edge.tunnel("c").apply(edge.state("c"));
  });
});

describe("peers without keys", NEEDS, () => {
  let edge: EdgeTunnels;
  const lost: string[] = [];

  beforeAll(async () => {
    edge = await EdgeTunnels.open(["fast"], { onLost: (reason) => lost.push(reason) });
    await edge.serveAll("b1", "c1");
    edge.apply([webService(["b", "c"])]);
  }, SETUP_MS);

  afterAll(() => edge?.close());

  test("a peer may only send what comes from its own workloads", async () => {
    const before = await edge.tunnel("b").stats();
    await edge.tunnel("c").close();
    const header = Buffer.from([0x11, ...new Array(15).fill(0)]);
    const sources = [overlay.v4("a", 1), overlay.v4("b", 2), "8.8.8.8", overlay.v4("c", 1)];
    const datagrams = sources.map((source) =>
      Buffer.concat([
        header,
        packetOf({ source, destination: overlay.v4("b", 1), protocol: "echo" }),
      ]),
    );
    await sendRaw(edge, "c", datagrams, TUNNEL_PORT);
    const after = await vi.waitUntil(async () => {
      const stats = await edge.tunnel("b").stats();
      return stats.packets.fromPeers - before.packets.fromPeers >= datagrams.length && stats;
    });
    expect(after.packets.forgedSource - before.packets.forgedSource).toBe(3);
    expect(after.packets.toLocal - before.packets.toLocal).toBeGreaterThanOrEqual(1);
  });

  test("one that is closed again closes nothing of others", async () => {
    const tunnel = edge.tunnel("c");
    await tunnel.close();
    // The lowest number that is free is taken: both of what it had are given again.
    const opened = Array.from({ length: 64 }, () => openSync("/dev/null", "r"));
    await tunnel.close();
    for (const descriptor of opened) expect(() => closeSync(descriptor)).not.toThrow();
  });

  test("a link that is taken away is told, once", async () => {
    edge.network.ip("a", "link del tun0");
    await vi.waitUntil(() => lost.length > 0);
    await edge.tunnel("a").stats();
    expect(lost).toHaveLength(1);
  });
});
