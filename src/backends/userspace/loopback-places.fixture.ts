import { createServer } from "node:net";
import { type Family, familyOf, isLoopback, isWildcard } from "../../core/model/address.ts";
import type { ModelObject } from "../../core/model/object.ts";
import type { Scenario } from "../../core/route/scenarios/scenario.ts";
import { PORT_NAME } from "../../core/route/scenarios/setting.ts";
import { TOPOLOGY, type WorkloadName } from "../../core/route/scenarios/topology.ts";

/** The networks of the topology, each with the part of 127.0.0.0/8 that stands for it. */
const V4_NETWORKS: readonly (readonly [string, string])[] = [
  ["192.168.", "127.1."],
  ["10.244.", "127.2."],
  ["10.96.", "127.3."],
  ["203.0.", "127.4."],
  ["198.51.", "127.5."],
];

export const WORKLOADS: readonly WorkloadName[] = ["web-a", "web-b", "web-c"];

/** Ports of this machine in place of those of the topology. */
export interface RealPorts {
  readonly listen: number;
  readonly service: number;
  readonly nodePort: number;
  readonly servers: Readonly<Record<WorkloadName, number>>;
}

/**
 * The topology on the loopback interface, which needs no root. Of IPv4 there are enough addresses for
 * everyone; of IPv6 there is one, so there only ports tell the parties apart.
 */
export class LoopbackPlaces {
  readonly ports: RealPorts;

  constructor(ports: RealPorts) {
    this.ports = ports;
  }

  static async find(): Promise<LoopbackPlaces> {
    return new LoopbackPlaces({
      listen: await freePort(),
      service: await freePort(),
      nodePort: await freePort(),
      servers: {
        "client-a": await freePort(),
        "web-a": await freePort(),
        "web-b": await freePort(),
        "web-c": await freePort(),
      },
    });
  }

  /** An address or network of the topology, here. */
  ip(text: string): string {
    const [address = "", prefix] = text.split("/");
    if (isWildcard(address) || isLoopback(address)) return text;
    if (familyOf(address) === "v6") return prefix === undefined || prefix === "128" ? "::1" : text;
    const row = V4_NETWORKS.find(([network]) => text.startsWith(network));
    if (row === undefined) throw new Error(`${text} is in no network of the topology`);
    return text.replace(...row);
  }

  /** Ports next to a known one stay next to it. */
  port(number: number): number {
    const { listen, service, nodePort } = this.ports;
    const known: readonly (readonly [number, number])[] = [
      [TOPOLOGY.listenPort, listen],
      [TOPOLOGY.port, service],
      [TOPOLOGY.nodePort, nodePort],
    ];
    const row = known.find(([wanted]) => Math.abs(number - wanted) <= 1);
    return row === undefined ? number : row[1] + number - row[0];
  }

  /** The scenario's state, with every address and port of the packet's family moved here. */
  objects({ objects, needs }: Scenario): readonly ModelObject[] {
    return objects.flatMap((object) => this.#object(object, needs.family) ?? []);
  }

  #object(object: ModelObject, family: Family): ModelObject | undefined {
    const ips = (texts: readonly string[]): readonly string[] =>
      texts.filter((text) => familyOf(text) === family).map((text) => this.ip(text));
    switch (object.kind) {
      case "Node":
        return { ...object, addresses: [...new Set(ips(object.addresses))] };
      case "Service":
        return {
          ...object,
          clusterIPs: [],
          externalIPs: ips(object.externalIPs),
          loadBalancerIPs: ips(object.loadBalancerIPs),
          sourceRanges: ips(object.sourceRanges),
          ports: object.ports.map((port) => ({
            ...port,
            port: this.port(port.port),
            nodePort: port.nodePort === 0 ? 0 : this.port(port.nodePort),
          })),
        };
      case "Endpoint": {
        const addresses = ips(object.addresses);
        const workload = WORKLOADS.find((name) => name === object.name);
        if (addresses.length === 0 || workload === undefined) return undefined;
        const port = this.ports.servers[workload];
        return { ...object, addresses, ports: [{ name: PORT_NAME, port }] };
      }
      case "Listener": {
        const { address, port } = object;
        if (address.startsWith("/")) return undefined;
        return { ...object, address: this.ip(address), port: this.port(port) };
      }
      case "SecurityGroup":
        return {
          ...object,
          rules: object.rules.map((rule) => ({
            ...rule,
            network: this.ip(rule.network),
            maxPort: this.port(rule.maxPort),
          })),
        };
      default:
        return object;
    }
  }
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  return address.port;
}
