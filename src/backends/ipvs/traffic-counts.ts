import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import {
  type IpvsStatistics,
  serverId,
  type VirtualServerState,
} from "../../wire/netlink/ipvs/virtual-server.ts";
import type { ServiceWithEndpoints } from "./plan/service-info.ts";

/** So many services have numbers of their own; those of all others are added up. */
const MAX_SERVICES = 1000;
const OTHERS = "others";

const NOTHING: IpvsStatistics = {
  connections: 0,
  packetsIn: 0,
  packetsOut: 0,
  bytesIn: 0,
  bytesOut: 0,
};

const COUNTERS: readonly {
  readonly name: string;
  readonly help: string;
  readonly field: keyof IpvsStatistics;
}[] = [
  {
    name: "ipvs_service_connections_total",
    help: "Connections of a service that IPVS scheduled",
    field: "connections",
  },
  {
    name: "ipvs_service_packets_in_total",
    help: "Packets from clients of a service",
    field: "packetsIn",
  },
  {
    name: "ipvs_service_packets_out_total",
    help: "Packets to clients of a service",
    field: "packetsOut",
  },
  {
    name: "ipvs_service_bytes_in_total",
    help: "Bytes from clients of a service",
    field: "bytesIn",
  },
  {
    name: "ipvs_service_bytes_out_total",
    help: "Bytes to clients of a service",
    field: "bytesOut",
  },
];

/**
 * What the kernel counted, by service: virtual servers come and go, and begin at 0 when they come back.
 * The number of services that are told apart is bounded, and one keeps its numbers while it exists.
 */
export class TrafficCounts {
  readonly #maxServices: number;
  readonly #marksOf: (mark: number) => readonly number[];
  /** The virtual servers of each service, and the service of each. */
  readonly #servers = new Map<string, readonly string[]>();
  readonly #owners = new Map<string, string>();
  readonly #last = new Map<string, IpvsStatistics>();
  readonly #sums = new Map<string, IpvsStatistics>();

  constructor(marksOf: (mark: number) => readonly number[], maxServices: number = MAX_SERVICES) {
    this.#marksOf = marksOf;
    this.#maxServices = maxServices;
  }

  /** Says all virtual servers of a service from now on; none where it is gone. */
  replace(service: string, infos: readonly ServiceWithEndpoints[]): void {
    for (const id of this.#servers.get(service) ?? []) this.#owners.delete(id);
    const ids = [...new Set(infos.flatMap((info) => this.#idsOf(info)))];
    for (const id of ids) this.#owners.set(id, service);
    if (ids.length > 0) this.#servers.set(service, ids);
    else {
      this.#servers.delete(service);
      this.#sums.delete(service);
    }
  }

  /** @param servers all that the kernel has */
  observe(servers: readonly VirtualServerState[]): void {
    const seen = new Map(servers.map((server) => [serverId(server), server.statistics]));
    for (const id of this.#last.keys()) if (!seen.has(id)) this.#last.delete(id);
    for (const [id, now] of seen) {
      const service = this.#owners.get(id);
      // One that nobody called takes no place from others.
      if (service === undefined || now.packetsIn === 0) continue;
      const name = this.#nameFor(service);
      const before = this.#last.get(id) ?? NOTHING;
      this.#sums.set(name, added(this.#sums.get(name) ?? NOTHING, now, before));
      this.#last.set(id, now);
    }
  }

  families(): readonly MetricFamily[] {
    return COUNTERS.map(({ name, help, field }) => ({
      name,
      help,
      kind: "counter",
      samples: [...this.#sums].map(([service, sums]) => ({
        labels: { service },
        value: sums[field],
      })),
    }));
  }

  #nameFor(service: string): string {
    const isOwn = this.#sums.has(service) || this.#sums.size < this.#maxServices;
    return isOwn ? service : OTHERS;
  }

  #idsOf({ service: { family, entrances } }: ServiceWithEndpoints): readonly string[] {
    return entrances.flatMap(({ protocol, ip, port, insideMark }) => [
      serverId({ family, place: { protocol, ip, port } }),
      ...(insideMark === undefined
        ? []
        : this.#marksOf(insideMark).map((mark) => serverId({ family, place: { mark } }))),
    ]);
  }
}

/** What is less than before began anew. */
function added(sum: IpvsStatistics, now: IpvsStatistics, before: IpvsStatistics): IpvsStatistics {
  const isNew = now.connections < before.connections || now.packetsIn < before.packetsIn;
  const more = (field: keyof IpvsStatistics): number =>
    sum[field] + now[field] - (isNew ? 0 : before[field]);
  return {
    connections: more("connections"),
    packetsIn: more("packetsIn"),
    packetsOut: more("packetsOut"),
    bytesIn: more("bytesIn"),
    bytesOut: more("bytesOut"),
  };
}
