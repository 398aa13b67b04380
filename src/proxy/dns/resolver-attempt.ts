import { randomInt } from "node:crypto";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DnsQuery } from "../../wire/dns/dns-query.ts";
import type { DnsResponse } from "../../wire/dns/dns-response.ts";

export interface AttemptParts {
  readonly query: DnsQuery;
  readonly resolver: SocketAddress;
  readonly onResponse: (response: DnsResponse) => void;
  /** There will be no answer. */
  readonly onFailed: () => void;
}

/** A question to one resolver. After `close` nothing more is told. */
export interface ResolverAttempt {
  start(): void;
  close(): void;
}

const IDS = 65_536;

/** That nobody can guess. */
export function randomQueryId(): number {
  return randomInt(IDS);
}
