import type { BackoffOptions } from "../../core/backoff.ts";
import type { ListenAddress } from "../../core/options/listen-address.ts";
import type { Http2ClientTls } from "../../platform/http2/connect-http2.ts";

export interface EtcdCredentials {
  readonly user: string;
  readonly password: string;
}

/** Where an etcd is, and who asks. */
export interface EtcdTarget {
  /** The members that clients may ask; one is used, another where that one fails. */
  readonly members: readonly ListenAddress[];
  /** Undefined: no TLS. */
  readonly tls?: Http2ClientTls | undefined;
  /** Undefined: nobody in particular, or whom the client certificate names. */
  readonly credentials?: EtcdCredentials | undefined;
}

export interface EtcdClientOptions extends EtcdTarget {
  /** From 0 to 1, without 1. */
  readonly random: () => number;
  /** Rejects where the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly limits?: Partial<EtcdLimits>;
  /** Told of each try of a call at a member: `Range`, how long it took, whether it was answered well. */
  readonly onCall?: ((call: string, seconds: number, isOk: boolean) => void) | undefined;
}

export interface EtcdLimits {
  /** How long a member that failed is left alone. */
  readonly backoff: BackoffOptions;
  readonly connectTimeoutMs: number;
  /** How long one member may take for an answer. */
  readonly callTimeoutMs: number;
  /** How long a call may take over all members. */
  readonly deadlineMs: number;
  readonly maxMessageBytes: number;
  /** So many keys are asked for at once. */
  readonly pageKeys: number;
  /** How often a member is asked whether it is there while something is followed; etcd refuses less than 5 s. */
  readonly pingIntervalMs: number;
  readonly pingTimeoutMs: number;
}

export const ETCD_LIMITS: EtcdLimits = {
  backoff: { firstMs: 200, maxMs: 10_000 },
  connectTimeoutMs: 3000,
  callTimeoutMs: 5000,
  deadlineMs: 15_000,
  maxMessageBytes: 67_108_864,
  pageKeys: 2000,
  pingIntervalMs: 6000,
  pingTimeoutMs: 4000,
};
