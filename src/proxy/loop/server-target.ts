import type { StreamFd } from "../../net/fd.ts";
import { errnoName } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { Server } from "../balance/server.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import type { ServerGroup } from "../server-group.ts";
import type { CounterRow } from "../stats/counter-row.ts";

/** What the targets of one group share. */
export interface TargetHome {
  readonly group: ServerGroup;
  readonly row: CounterRow;
  nowMs(): number;
  addressOf(server: Server): SocketAddress;
  secured(fd: StreamFd, server: string): StreamFd;
  readonly isForStreams: boolean;
  /** A connection failed, with why; or, after such, one succeeded. */
  experienced(server: Server, failure: string | undefined): void;
}

/** A server as connections see it: balancing, counters and health are told what becomes of them. */
export class ServerTarget implements DialTarget {
  readonly server: Server;
  readonly address: SocketAddress;
  readonly #home: TargetHome;
  readonly #row: CounterRow;
  #hasFailed = false;

  constructor(home: TargetHome, server: Server, row: CounterRow) {
    this.#home = home;
    this.server = server;
    this.#row = row;
    this.address = home.addressOf(server);
  }

  get key(): string {
    return this.server.memberId;
  }

  secured(fd: StreamFd): StreamFd {
    return this.#home.secured(fd, this.key);
  }

  get isForStreams(): boolean {
    return this.#home.isForStreams;
  }

  opened(): void {
    this.#home.group.opened(this.server);
    this.#home.row.opened();
    this.#row.opened();
  }

  closed(): void {
    this.#home.group.closed(this.server);
    this.#home.row.closed();
    this.#row.closed();
  }

  connected(): void {
    if (!this.#hasFailed) return;
    this.#hasFailed = false;
    this.#home.experienced(this.server, undefined);
  }

  failed(result: number): void {
    this.#home.row.failed();
    this.#row.failed();
    this.#hasFailed = true;
    this.#home.experienced(this.server, errnoName(result));
  }

  moved(bytesIn: number, bytesOut: number): void {
    this.#home.row.moved(bytesIn, bytesOut);
    this.#row.moved(bytesIn, bytesOut);
  }

  tookMs(latencyMs: number): void {
    this.server.latency.observe(latencyMs, this.#home.nowMs());
    this.#row.tookMs(latencyMs);
  }
}
