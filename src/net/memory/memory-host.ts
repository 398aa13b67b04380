import { isLoopback, isWildcard } from "../../core/model/address.ts";
import {
  type IpSocketAddress,
  ipAddress,
  type SocketAddress,
} from "../../platform/socket-address.ts";
import type { HostDatagram } from "../host-datagram.ts";
import type { MemoryServer } from "./memory-server.ts";
import { BoundTable, type SimulatedNetwork } from "./simulated-network.ts";

const FIRST_EPHEMERAL_PORT = 32_768;

/** A machine of the simulated network. */
export class MemoryHost {
  readonly name: string;
  readonly network: SimulatedNetwork;
  readonly servers: BoundTable<MemoryServer> = new BoundTable();
  readonly datagrams: BoundTable<HostDatagram> = new BoundTable();
  readonly #ips: readonly string[];
  readonly #neighbours: MemoryHosts;
  #nextPort = FIRST_EPHEMERAL_PORT;

  constructor(
    neighbours: MemoryHosts,
    options: { readonly name: string; readonly ips: readonly string[] },
  ) {
    this.name = options.name;
    this.#ips = options.ips;
    this.#neighbours = neighbours;
    this.network = neighbours.network;
  }

  has(address: SocketAddress): boolean {
    if (address.family === "unix" || isLoopback(address.ip)) return true;
    return this.#ips.includes(address.ip);
  }

  /** Who has an address, as seen from here. */
  hostOf(address: SocketAddress): MemoryHost | undefined {
    return this.has(address) ? this : this.#neighbours.find(address);
  }

  canBind(address: SocketAddress): boolean {
    return this.has(address) || (address.family !== "unix" && isWildcard(address.ip));
  }

  /** With a port where none was named. */
  named(address: SocketAddress): SocketAddress {
    if (address.family === "unix" || address.port !== 0) return address;
    this.#nextPort += 1;
    return { ...address, port: this.#nextPort };
  }

  /** The address that a connection to `to` comes from. */
  sourceFor(to: SocketAddress): SocketAddress {
    if (to.family === "unix") return { family: "unix", path: "" };
    return this.named(ipAddress(this.#ipFor(to), 0));
  }

  /** The address that a datagram to `to` comes from, out of a socket that is bound to `local`. */
  sourceOf(local: SocketAddress, to: SocketAddress): SocketAddress {
    if (local.family === "unix" || to.family === "unix" || !isWildcard(local.ip)) return local;
    return ipAddress(this.#ipFor(to), local.port);
  }

  #ipFor(to: IpSocketAddress): string {
    const isOwn = this.has(to);
    const ip = isOwn ? to.ip : this.#ips.find((own) => own.includes(":") === to.ip.includes(":"));
    return ip ?? to.ip;
  }
}

/** The hosts of one network. */
export class MemoryHosts {
  readonly network: SimulatedNetwork;
  readonly #hosts = new Map<string, MemoryHost>();

  constructor(network: SimulatedNetwork) {
    this.network = network;
  }

  add(name: string, ips: readonly string[]): MemoryHost {
    const host = new MemoryHost(this, { name, ips });
    this.#hosts.set(name, host);
    return host;
  }

  find(address: SocketAddress): MemoryHost | undefined {
    for (const host of this.#hosts.values()) {
      if (address.family !== "unix" && !isLoopback(address.ip) && host.has(address)) return host;
    }
    return undefined;
  }
}
