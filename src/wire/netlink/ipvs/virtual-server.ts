import { type Family, formatHostPort } from "../../../core/model/address.ts";
import type { Protocol } from "../../../core/model/common.ts";

/** What clients call: an address, or whatever carries a mark. */
export type ServerPlace =
  | { readonly protocol: Protocol; readonly ip: string; readonly port: number }
  | { readonly mark: number };

/** A virtual server of IPVS. */
export interface VirtualServer {
  readonly family: Family;
  readonly place: ServerPlace;
  /** `rr`, `wrr`, ... */
  readonly scheduler: string;
  /** Bits of `IP_VS_SVC_F_`, without those of the kernel. */
  readonly flags: number;
  /** How long a client stays with its server; 0 where it does not. */
  readonly persistenceSeconds: number;
}

/** A real server behind a virtual one. */
export interface Destination {
  readonly ip: string;
  readonly port: number;
  /** 0: it takes no new connections. */
  readonly weight: number;
}

/** What was counted of a virtual or a real server. */
export interface IpvsStatistics {
  readonly connections: number;
  readonly packetsIn: number;
  readonly packetsOut: number;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface VirtualServerState extends VirtualServer {
  /** Whether each address is a client of its own where clients stay with their server: with all that we make. */
  readonly isByAddress: boolean;
  readonly statistics: IpvsStatistics;
}

export interface DestinationState extends Destination {
  /** Whether addresses are translated: all that we make are so. */
  readonly isTranslated: boolean;
  /** Whether the number of its connections is limited: of none that we make. */
  readonly isLimited: boolean;
  readonly activeConnections: number;
  readonly inactiveConnections: number;
  readonly statistics: IpvsStatistics;
}

/** How long IPVS remembers connections, in seconds. */
export interface IpvsTimeouts {
  readonly tcp: number;
  readonly tcpFin: number;
  readonly udp: number;
}

/** Unique among all virtual servers: `TCP 10.96.0.10:80`, `v4 mark 0x20000001`. */
export function serverId({ family, place }: Pick<VirtualServer, "family" | "place">): string {
  if ("mark" in place) return `${family} mark 0x${place.mark.toString(16)}`;
  return `${place.protocol} ${formatHostPort(place.ip, place.port)}`;
}

/** Unique among those of one virtual server: `10.244.1.12:8080`. */
export function destinationId({ ip, port }: Pick<Destination, "ip" | "port">): string {
  return formatHostPort(ip, port);
}
