import type { StreamFd } from "../../net/fd.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DialTarget } from "../relay/dial-targets.ts";

/**
 * A server whose connections do not count as such: many requests share one, and each of them counts
 * itself.
 */
export class UncountedTarget implements DialTarget {
  readonly address: SocketAddress;
  readonly #target: DialTarget;

  constructor(target: DialTarget) {
    this.#target = target;
    this.address = target.address;
  }

  get key(): string {
    return this.#target.key;
  }

  secured(fd: StreamFd): StreamFd {
    return this.#target.secured?.(fd) ?? fd;
  }

  opened(): void {}
  closed(): void {}

  connected(): void {
    this.#target.connected();
  }

  tookMs(latencyMs: number): void {
    this.#target.tookMs(latencyMs);
  }

  failed(result: number): void {
    this.#target.failed(result);
  }

  moved(bytesIn: number, bytesOut: number): void {
    this.#target.moved(bytesIn, bytesOut);
  }
}
