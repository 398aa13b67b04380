import { execFileSync } from "node:child_process";
import { once } from "node:events";
import type { EdgeService } from "../../src/edge/table/service-table.ts";
import type { PeerSpec } from "../../src/edge/tunnel/peer.ts";
import { Tunnel, type TunnelOptions, type TunnelState } from "../../src/edge/tunnel/tunnel.ts";
import { generateTunnelKey, publicTunnelKey } from "../../src/edge/tunnel/tunnel-keys.ts";
import { sourceHost } from "../../src/net/threads/loop-thread.fixture.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import {
  EdgeNetwork,
  HOSTS,
  type HostName,
  overlay,
  type PartyName,
  underlay,
} from "./edge-network.ts";

export const TUNNEL_PORT = 50_103;
const SERVICE_RANGES = ["10.30.0.0/16", "fdff::/16"];

/** Of what a server sends for `/bulk`: the numbers from 0 on, each of 4 bytes. */
const BULK_BYTES = 8_388_608;

/** Threads that run the sources take a while to start on a busy machine. */
export const SETUP_MS = 60_000;

export type PeerModes = PeerSpec["modes"];

/** Tunnels on all hosts of a network, with the same services for all. */
export class EdgeTunnels {
  readonly network: EdgeNetwork;
  readonly tunnels: ReadonlyMap<HostName, Tunnel>;
  readonly keys: Readonly<Record<HostName, string>> = {
    a: generateTunnelKey(),
    b: generateTunnelKey(),
    c: generateTunnelKey(),
  };
  readonly #modes: PeerModes;
  #services: readonly EdgeService[] = [];

  static async open(
    modes: PeerModes,
    options: Partial<TunnelOptions> & {
      readonly underlayFamily?: "v4" | "v6";
      /** Hosts where all packets pass the tunnel. */
      readonly withoutKernelPath?: readonly HostName[];
    } = {},
  ): Promise<EdgeTunnels> {
    const network = EdgeNetwork.open();
    const tunnels = new Map<HostName, Tunnel>();
    const all = new EdgeTunnels(network, tunnels, modes);
    try {
      const host = sourceHost();
      const any = options.underlayFamily === "v6" ? "::" : "0.0.0.0";
      const opening = HOSTS.map((name) =>
        network.inside(name, () =>
          Tunnel.open(host, {
            node: name,
            tunName: "tun0",
            addresses: overlay.tun(name),
            listen: ipAddress(any, TUNNEL_PORT),
            privateKey: all.keys[name],
            subnets: overlay.subnets(name),
            serviceRanges: SERVICE_RANGES,
            hairpin: ["10.30.255.254", "fdff:ffff::1"],
            probeIntervalMs: 250,
            rehearses: false,
            kernelPath: options.withoutKernelPath?.includes(name) ? "off" : "auto",
            ...options,
          }),
        ),
      );
      for (const [index, name] of HOSTS.entries()) {
        const tunnel = await opening[index];
        if (tunnel !== undefined) tunnels.set(name, tunnel);
        network.ip(name, "route add fdff::/16 dev tun0");
      }
      all.apply([], options.underlayFamily);
      return all;
    } catch (error) {
      await all.close();
      throw error;
    }
  }

  private constructor(
    network: EdgeNetwork,
    tunnels: ReadonlyMap<HostName, Tunnel>,
    modes: PeerModes,
  ) {
    this.network = network;
    this.tunnels = tunnels;
    this.#modes = modes;
  }

  tunnel(host: HostName): Tunnel {
    const tunnel = this.tunnels.get(host);
    if (tunnel === undefined) throw new Error(`host ${host} has no tunnel`);
    return tunnel;
  }

  /** What a host is told. */
  state(of: HostName, family: "v4" | "v6" = "v4"): TunnelState {
    const hasKey = this.#modes[0] !== "compat" && this.#modes.includes("secure");
    const peers = HOSTS.filter((host) => host !== of).map((host) => ({
      node: host,
      endpoint: ipAddress(underlay[family](host), TUNNEL_PORT),
      subnets: overlay.subnets(host),
      modes: this.#modes,
      ...(hasKey ? { publicKey: publicTunnelKey(this.keys[host]) } : {}),
    }));
    return { services: this.#services, peers };
  }

  apply(services: readonly EdgeService[], family: "v4" | "v6" = "v4"): void {
    this.#services = services;
    for (const [host, tunnel] of this.tunnels) tunnel.apply(this.state(host, family));
  }

  async serveAll(...parties: readonly PartyName[]): Promise<void> {
    await Promise.all(parties.map((party) => this.#serve(party, 80)));
  }

  /** An HTTP server that answers everyone with its name, and datagrams with the same. */
  async #serve(party: PartyName, port: number): Promise<void> {
    const script = `
      const bulk = new Uint8Array(Uint32Array.from({ length: ${BULK_BYTES / 4} }, (_, index) => index).buffer);
      const answer = (request, answer) => answer.end(request.url === "/bulk" ? bulk : "${party}");
      require("node:http").createServer(answer).listen(${port}, "::", () => {
        const udp = require("node:dgram").createSocket("udp6");
        udp.on("message", (bytes, from) => udp.send(["${party} ", bytes], from.port, from.address));
        udp.bind(${port}, () => console.log("ready"));
      });`;
    const child = this.network.spawn(party, process.execPath, ["-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    if (child.stdout !== null) await once(child.stdout, "data");
  }

  /** What a server answers; from a certain port where that is said. */
  get(party: PartyName, ip: string, fromPort?: number): string {
    const host = ip.includes(":") ? `[${ip}]` : ip;
    const from = fromPort === undefined ? [] : ["--local-port", String(fromPort)];
    return this.network.exec(party, "curl", "-gsS", "-m", "10", ...from, `http://${host}/`);
  }

  /** Whether all bytes of a long answer came as they were sent. */
  isBulkRight(party: PartyName, ip: string): boolean {
    const host = ip.includes(":") ? `[${ip}]` : ip;
    const args = ["-gsS", "-m", "20", `http://${host}/bulk`];
    const bytes = this.network.inside(party, () =>
      execFileSync("curl", args, { stdio: "pipe", maxBuffer: 2 * BULK_BYTES }),
    );
    if (bytes.length !== BULK_BYTES) return false;
    for (let index = 0; index < BULK_BYTES / 4; index += 1) {
      if (bytes.readUInt32LE(index * 4) !== index) return false;
    }
    return true;
  }

  /** What a server answers to a datagram of so many bytes: who it is, and how many came back right. */
  echo(party: PartyName, ip: string, byteCount: number): string {
    const script = `
      const udp = require("node:dgram").createSocket("${ip.includes(":") ? "udp6" : "udp4"}");
      const sent = Buffer.from(Array.from({ length: ${byteCount} }, (_, index) => index));
      udp.on("message", (bytes, from) => {
        const at = bytes.indexOf(" ");
        console.log(bytes.subarray(0, at) + " " + bytes.subarray(at + 1).equals(sent) + " " + from.address);
        process.exit();
      });
      udp.send(sent, 80, "${ip}");
      setTimeout(() => process.exit(1), 5000);`;
    return this.network.exec(party, process.execPath, "-e", script).trim();
  }

  async close(): Promise<void> {
    for (const tunnel of this.tunnels.values()) await tunnel.close();
    this.network.close();
  }
}

/** The service that workload 1 of each of some hosts serves, with an address for each policy. */
export function webService(hosts: readonly HostName[]): EdgeService {
  return {
    key: "shop/web",
    names: ["web.shop"],
    addresses: [
      { address: "10.30.0.1", policy: "round-robin", instance: -1 },
      { address: "10.30.0.2", policy: "closest", instance: -1 },
      { address: "10.30.0.3", policy: "instance", instance: 2 },
      { address: "fdff:2000::1", policy: "round-robin", instance: -1 },
      { address: "fdff:1000::1", policy: "closest", instance: -1 },
      { address: "fdff::3", policy: "instance", instance: 2 },
    ],
    instances: hosts.map((host) => ({
      number: HOSTS.indexOf(host),
      node: host,
      addresses: [overlay.v4(host, 1), overlay.v6(host, 1)],
      weight: 1,
    })),
  };
}
