/** What the main thread and the thread of a tunnel say to each other. All of it can be cloned. */
import type { FlowState } from "../flows/flow.ts";
import type { PacketCounts } from "../flows/packet-counters.ts";
import type { KernelPathStats } from "../kernel-path/kernel-path.ts";
import type { EdgeService } from "../table/service-table.ts";
import type { FlowNews } from "./flow-keeper.ts";
import type { HandshakeCounts } from "./handshakes.ts";
import type { IncomingCounts } from "./incoming.ts";
import type { KeptFlow } from "./kept-flow.ts";
import type { PeerSpec, TunnelMode } from "./peer.ts";

/** Whether packets pass in the kernel: where it can be, or not at all. */
export type KernelPathUse = "auto" | "off";

/** What the thread starts with. The descriptors are the main thread's. */
export interface TunnelData {
  readonly kind: "tunnel";
  readonly node: string;
  readonly tun: number;
  readonly udp: number;
  readonly isV6Socket: boolean;
  readonly mtu: number;
  readonly subnets: readonly string[];
  readonly serviceRanges: readonly string[];
  readonly hairpin: readonly string[];
  readonly looksUpSenders: boolean;
  readonly maxFlows: number;
  readonly probeIntervalMs: number;
  readonly rekeyAfterMs: number;
  readonly rehearses: boolean;
  readonly awakeMs: number;
  readonly kernelPath: KernelPathUse;
  /** Base64; missing where no peer has a key. */
  readonly privateKey: string | undefined;
  /** Connections of an earlier process. */
  readonly keptFlows: readonly KeptFlow[];
}

export type TunnelCommand =
  | {
      readonly kind: "apply";
      readonly deletedServices: readonly string[];
      readonly services: readonly EdgeService[];
      readonly deletedPeers: readonly string[];
      readonly peers: readonly PeerSpec[];
    }
  | { readonly kind: "missed"; readonly address: string }
  | { readonly kind: "stats"; readonly request: number }
  | { readonly kind: "flows"; readonly request: number; readonly limit: number };

/** A flow as it is shown: ends as `IP:PORT`, `[IP]:PORT`. */
export interface TunnelFlow {
  readonly protocol: number;
  readonly source: string;
  /** The address that was called, of a service. */
  readonly destination: string;
  readonly service: string;
  readonly instance: number;
  readonly node: string;
  readonly state: FlowState;
}

export interface PeerStats {
  readonly node: string;
  /** `HOST:PORT`; empty where it is not known. */
  readonly endpoint: string;
  /** What packets travel by at this moment; undefined where nothing is agreed on. */
  readonly mode: TunnelMode | undefined;
  readonly roundTripMs: number | undefined;
  readonly bytesIn: number;
  readonly bytesOut: number;
}

export interface TunnelStats {
  readonly packets: PacketCounts;
  readonly incoming: IncomingCounts;
  readonly handshakes: HandshakeCounts;
  readonly flows: { readonly count: number; readonly evicted: number };
  /** What found no room to wait, or waited in vain. */
  readonly waitedInVain: number;
  /** What the system did not take: datagrams, and packets of the TUN. */
  readonly sendFailed: number;
  readonly writeFailed: number;
  /** What passed in the kernel; it is part of `packets` and of the bytes of peers. */
  readonly kernelPath: KernelPathStats;
  readonly peers: readonly PeerStats[];
}

export type TunnelReport =
  | { readonly kind: "lookup"; readonly address: string }
  /** The TUN is gone. */
  | { readonly kind: "lost"; readonly reason: string }
  /** A peer is genuinely somewhere else: `HOST:PORT`. */
  | { readonly kind: "moved"; readonly node: string; readonly endpoint: string }
  | { readonly kind: "stats"; readonly request: number; readonly stats: TunnelStats }
  | { readonly kind: "flows"; readonly request: number; readonly flows: readonly TunnelFlow[] }
  /** Connections that the next process has to know. */
  | { readonly kind: "keep"; readonly news: FlowNews };

const COMMANDS: ReadonlySet<unknown> = new Set(["apply", "missed", "stats", "flows"]);
const REPORTS: ReadonlySet<unknown> = new Set([
  "lookup",
  "lost",
  "moved",
  "stats",
  "flows",
  "keep",
]);

/** Both ends are of this program: what names a kind that is known is of that kind. */
export function isTunnelData(body: unknown): body is TunnelData {
  return kindOf(body) === "tunnel";
}

export function isTunnelCommand(body: unknown): body is TunnelCommand {
  return COMMANDS.has(kindOf(body));
}

export function isTunnelReport(body: unknown): body is TunnelReport {
  return REPORTS.has(kindOf(body));
}

function kindOf(body: unknown): unknown {
  return typeof body === "object" && body !== null && "kind" in body ? body.kind : undefined;
}
