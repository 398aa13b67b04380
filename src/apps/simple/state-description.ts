import type { BalancingMethod, HealthCheckProtocol } from "../../core/model/group.ts";
import type { ListenerMode } from "../../core/model/listener.ts";

/** Milliseconds are said with their unit, as in a state file: `500ms`, `5s`, `10m`. */
export type DurationText = string;

export interface HealthCheckDescription {
  readonly protocol: HealthCheckProtocol;
  readonly timeout?: DurationText;
  readonly interval?: DurationText;
  /** Successes in a row that bring a server up; failures in a row that take it down. */
  readonly up?: number;
  readonly down?: number;
  readonly http?: {
    readonly method?: string;
    readonly path?: string;
    readonly host?: string;
    /** `2xx`, `301`. */
    readonly status?: readonly string[];
  };
  readonly dnsName?: string;
}

export interface ServerDescription {
  /** `HOST:PORT`, or `unix:/PATH`. */
  readonly address: string | readonly string[];
  readonly name?: string;
  /** Its share, from 0 (no new connections) to 65535. */
  readonly weight?: number;
  readonly [key: string]: unknown;
}

/** Servers, and how to choose among them. */
export interface ServersDescription {
  readonly servers?: string | ServerDescription | readonly (string | ServerDescription)[];
  readonly method?: BalancingMethod;
  readonly healthCheck?: HealthCheckProtocol | HealthCheckDescription;
  /** How long a server that came up takes to get its full share. */
  readonly slowStart?: DurationText;
}

export interface ListenDescription {
  /** `IP:PORT`, `PORT` of loopback, or `unix:/PATH`. */
  readonly address: string | number;
  readonly mode?: ListenerMode;
  /** SOCKS5 and DNS: whether targets outside the service are served, too. */
  readonly allowOthers?: boolean;
  readonly idleTimeout?: DurationText;
  readonly connectTimeout?: DurationText;
  readonly [key: string]: unknown;
}

export interface ServiceDescription extends ServersDescription {
  readonly listen?: string | number | ListenDescription | readonly (string | ListenDescription)[];
  readonly [key: string]: unknown;
}

/**
 * What a state file of version 1 says, as an object: docs/state-files.md has all the words, of which
 * the usual ones are typed here. Every one of them is checked when it is read.
 */
export interface StateDescription {
  readonly version?: 1;
  readonly services?: Readonly<Record<string, ServiceDescription>>;
  readonly groups?: Readonly<Record<string, ServersDescription>>;
  readonly [key: string]: unknown;
}
