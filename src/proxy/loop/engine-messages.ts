/** What an engine and its loops say to each other. All of it can be cloned. */
import type { BalancingMethod, HealthCheck } from "../../core/model/group.ts";
import type { MemberSpec } from "../balance/member.ts";
import type { DnsCacheEntry } from "../dns/dns-cache.ts";
import type {
  CertificateConfig,
  DialTlsConfig,
  ListenerConfig,
  StreamTransport,
  UpstreamConfig,
} from "../engine-config.ts";
import type { HealthEdge } from "../health/health-state.ts";
import type { CounterBlock } from "../stats/counter-blocks.ts";
import type { TicketSeed } from "../tls/ticket-ratchet.ts";

/** Names an address of a server. */
export interface ServerId {
  readonly group: string;
  /** `ServerConfig.key`. */
  readonly member: string;
  readonly address: string;
  readonly port: number;
}

/** A server that a client stays with. */
export interface Stay extends ServerId {
  readonly upstream: string;
  readonly client: string;
}

/** What is different from now on. `row` is the row of its counters. */
export type Change =
  | {
      readonly kind: "group";
      readonly key: string;
      readonly row: number;
      readonly method: BalancingMethod;
      readonly healthCheck: HealthCheck;
      readonly slowStartMs: number;
      readonly transport: StreamTransport;
      readonly tls: DialTlsConfig | undefined;
    }
  | { readonly kind: "group-gone"; readonly key: string }
  | {
      readonly kind: "server";
      readonly group: string;
      readonly row: number;
      readonly spec: MemberSpec;
      /** Keys of the addresses that are known to be up. */
      readonly up: readonly string[];
    }
  | { readonly kind: "server-gone"; readonly group: string; readonly member: string }
  | { readonly kind: "upstream"; readonly config: UpstreamConfig }
  | { readonly kind: "upstream-gone"; readonly key: string }
  | {
      readonly kind: "listener";
      readonly row: number;
      readonly config: ListenerConfig;
      /** The loops that serve the connections, wherever they are accepted; none: where that is. */
      readonly workers: readonly string[];
      /** Those that its TLS names, in that order. */
      readonly certificates: readonly CertificateConfig[];
    }
  /** As `socketsOf` names it. */
  | { readonly kind: "socket-gone"; readonly socketId: string };

/** From the engine to a loop. */
export type EngineCommand =
  /** Memory for counters; before the rows in it. */
  | { readonly kind: "block"; readonly block: CounterBlock }
  /** Answered with `changed`. */
  | { readonly kind: "change"; readonly request: number; readonly changes: readonly Change[] }
  /** Whether this loop is the one that checks the servers. */
  | { readonly kind: "checks"; readonly isOn: boolean }
  | { readonly kind: "health"; readonly id: ServerId; readonly edge: HealthEdge }
  /** To the loop that checks: what the connections of another loop tell about a server. */
  | { readonly kind: "experience"; readonly id: ServerId; readonly failure: string | undefined }
  | { readonly kind: "stay"; readonly stay: Stay }
  | { readonly kind: "resolved"; readonly request: number; readonly addresses: readonly string[] }
  /** What resolvers answered; answered with `cached-names`, after what shall be forgotten is. */
  | {
      readonly kind: "cached-names";
      readonly request: number;
      readonly forget?: { readonly listener: string; readonly name: string };
    };

/** A change that could not be made: which of those in the command, and why. */
export interface ChangeProblem {
  readonly index: number;
  readonly message: string;
}

/** From a loop to the engine. */
export type EngineReport =
  | {
      readonly kind: "changed";
      readonly request: number;
      readonly problems: readonly ChangeProblem[];
    }
  | {
      readonly kind: "health";
      readonly id: ServerId;
      readonly edge: HealthEdge;
      readonly reason: string;
    }
  /** A connection failed, with why; or, after such, one succeeded. */
  | { readonly kind: "experience"; readonly id: ServerId; readonly failure: string | undefined }
  | { readonly kind: "stay"; readonly stay: Stay }
  | { readonly kind: "resolve"; readonly request: number; readonly name: string }
  | {
      readonly kind: "cached-names";
      readonly request: number;
      readonly names: readonly CachedName[];
      /** Whether something was forgotten. */
      readonly hasForgotten: boolean;
    };

/** An answer that a listener keeps in a loop. */
export interface CachedName extends DnsCacheEntry {
  /** Key of the listener. */
  readonly listener: string;
}

/** What a loop of an engine starts with. */
export interface ProxyProgramData {
  /** Which of the copies of each row it writes. */
  readonly index: number;
  /** The same for all loops of an engine; those that terminate no TLS need none. */
  readonly tickets?: TicketSeed;
}
