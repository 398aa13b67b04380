import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { COUNTS, MODE_FAST, MODE_SECURE } from "../../src/edge/kernel-path/layout.ts";
import {
  PROTOCOL_ICMP,
  PROTOCOL_ICMP6,
  PROTOCOL_TCP,
  PROTOCOL_UDP,
} from "../../src/wire/ip/ip-numbers.ts";
import { requires } from "../support/requires.ts";
import { KernelPaths } from "./edge-kernel-paths.ts";
import { overlay } from "./edge-network.ts";

const NEEDS = requires("linux", "root", "ip", "ping");
const CASES: readonly (readonly [string, number, boolean])[] = [
  ["secure", MODE_SECURE, true],
  ["secure, checksums by the workloads", MODE_SECURE, false],
  ["fast", MODE_FAST, true],
  ["fast, checksums by the workloads", MODE_FAST, false],
];

/** An echo server of both protocols, which also says whom it sees. */
const SERVER = `
  const udp = require("node:dgram").createSocket("udp6");
  udp.on("message", (bytes, from) => udp.send([bytes, String(from.port)], from.port, from.address));
  udp.bind(8080, () =>
    require("node:net")
      .createServer({ noDelay: true }, (socket) => {
        socket.on("data", (bytes) => socket.write(Buffer.concat([bytes, Buffer.from(String(socket.remotePort))])));
        socket.on("error", () => undefined);
      })
      .listen(8080, "::", () => console.log("ready")));`;

/** Sends 1 to 420 bytes in steps, each when the answer to the one before is there. */
function client(protocol: "tcp" | "udp", from: string, to: string, seenPort: number): string {
  const isV6 = to.includes(":");
  const open = {
    udp: `
      const udp = require("node:dgram").createSocket("udp${isV6 ? 6 : 4}");
      udp.bind({ port: 40000, address: "${from}" }, () => {
        udp.on("message", (bytes, peer) => take(bytes, peer.address));
        go((bytes) => udp.send(bytes, 80, "${to}"));
      });`,
    tcp: `
      const tcp = require("node:net").connect({ port: 80, host: "${to}", localPort: 40000, localAddress: "${from}", noDelay: true });
      tcp.on("data", (bytes) => take(bytes, tcp.remoteAddress));
      tcp.on("connect", () => setTimeout(() => go((bytes) => tcp.write(bytes)), 60));`,
  };
  return `
    const crypto = require("node:crypto");
    let sent, send, rest = Buffer.alloc(0), right = 0, length = 1;
    const next = () => {
      if (length > 420) return (console.log(right), process.exit());
      sent = crypto.randomBytes(length);
      length += 7;
      send(sent);
    };
    const go = (sending) => (send = sending, next());
    const take = (bytes, from) => {
      rest = Buffer.concat([rest, bytes]);
      if (rest.length < sent.length + 5) return;
      if (rest.equals(Buffer.concat([sent, Buffer.from("${seenPort}")])) && from === "${to}") right += 1;
      rest = Buffer.alloc(0);
      next();
    };
    ${open[protocol]}
    setTimeout(() => (console.log("only " + right), process.exit(1)), 5000);`;
}

const ROUNDS = 60;

describe.each(CASES)("the kernel path, %s", NEEDS, (_name, mode, hasOffloads) => {
  let paths: KernelPaths;

  beforeAll(async () => {
    paths = KernelPaths.open(mode, hasOffloads);
    const server = paths.network.spawn("b1", process.execPath, ["-e", SERVER], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (server.stdout !== null) await once(server.stdout, "data");
  });

  afterAll(() => paths?.close());

  /** How many were sent by the kernel of host a, and how many were left to the tunnel, in `work`. */
  async function measured(work: () => Promise<void>): Promise<{ sent: number; carried: number }> {
    const before = paths.maps("a").count(COUNTS.sent);
    const { carried } = paths.carrier;
    await work();
    const sent = paths.maps("a").count(COUNTS.sent) - before;
    return { sent, carried: paths.carrier.carried - carried };
  }

  async function run(program: string, ...args: readonly string[]): Promise<string> {
    const child = paths.network.spawn("a1", program, args, {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let told = "";
    child.stdout?.on("data", (bytes) => {
      told += String(bytes);
    });
    await once(child, "close");
    return told;
  }

  const ping = (ip: string, bytes: number) =>
    run("ping", "-e", "77", "-c", "3", "-i", "0.01", "-W", "2", "-s", String(bytes), ip);

  test.each([
    ["another workload", overlay.v4("b", 1), 0],
    ["another workload", overlay.v4("b", 1), 484],
    ["another workload", overlay.v6("b", 1), 0],
    ["another workload", overlay.v6("b", 1), 464],
  ])("echoes of %s: %s, %s bytes", async (_what, ip, bytes) => {
    const { sent, carried } = await measured(async () => {
      expect(await ping(ip, bytes)).toContain(" 3 received");
    });
    expect({ sent, carried }).toEqual({ sent: 3, carried: 0 });
  });

  test("what comes by a VLAN of the link is left to the kernel", async () => {
    const { network } = paths;
    const untag = paths.tagAllTo("b", 5);
    const received = () => paths.maps("b").count(COUNTS.received);
    const before = received();
    const [, address] =
      /link\/ether (\S+)/.exec(network.exec("b", "ip", "-o", "link", "show", "dev", "eth0")) ?? [];
    // Nobody would answer a question that is of that VLAN, too.
    network.ip("router", `neigh replace 192.168.2.2 lladdr ${address} dev to-b`);
    const { sent } = await measured(async () => {
      await run("ping", "-c", "3", "-i", "0.01", "-W", "1", overlay.v4("b", 1));
    });
    untag();
    expect([sent, received() - before]).toEqual([3, 0]);
  });

  test.each([
    ["10.30.0.1", overlay.v4("a", 1), overlay.v4("b", 1), PROTOCOL_ICMP],
    ["fdff::1", overlay.v6("a", 1), overlay.v6("b", 1), PROTOCOL_ICMP6],
  ])("echoes of a service: %s", async (service, clientIp, server, protocol) => {
    paths.addFlow({
      protocol,
      asked: { source: clientIp, destination: service, sourcePort: 77, destinationPort: 0 },
      sent: { source: clientIp, destination: server, sourcePort: 1077, destinationPort: 0 },
    });
    const { sent, carried } = await measured(async () => {
      expect(await ping(service, 100)).toContain(" 3 received");
    });
    expect({ sent, carried }).toEqual({ sent: 3, carried: 0 });
  });

  test.each([
    ["udp", "10.30.0.1", overlay.v4("a", 1), overlay.v4("b", 1), PROTOCOL_UDP],
    ["udp", "fdff::1", overlay.v6("a", 1), overlay.v6("b", 1), PROTOCOL_UDP],
    ["tcp", "10.30.0.1", overlay.v4("a", 1), overlay.v4("b", 1), PROTOCOL_TCP],
    ["tcp", "fdff::1", overlay.v6("a", 1), overlay.v6("b", 1), PROTOCOL_TCP],
  ] as const)("a service by %s: %s", async (name, service, clientIp, server, protocol) => {
    paths.addFlow({
      protocol,
      asked: { source: clientIp, destination: service, sourcePort: 40_000, destinationPort: 80 },
      sent: { source: clientIp, destination: server, sourcePort: 41_000, destinationPort: 8080 },
    });
    const { sent, carried } = await measured(async () => {
      const told = await run(process.execPath, "-e", client(name, clientIp, service, 41_000));
      expect(told.trim()).toBe(String(ROUNDS));
    });
    expect(sent).toBeGreaterThanOrEqual(ROUNDS);
    // How a connection begins and ends is the tunnel's.
    if (name === "udp") expect(carried).toBe(0);
    else expect(carried).toBeLessThan(20);
  });

  test("nothing was lost or refused on the way", () => {
    for (const host of ["a", "b"] as const) {
      expect(paths.maps(host).count(COUNTS.failed)).toBe(0);
      expect(paths.maps(host).count(COUNTS.refused)).toBe(0);
    }
  });
});
