import { type HandOff, READABLE, type SpliceEnd, type StreamFd, WRITABLE } from "../../net/fd.ts";
import type { Region } from "../../net/region.ts";
import { ERRNO } from "../../platform/errno.ts";
import type { SslChannel } from "../../platform/linux/openssl/ssl-channel.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { Secured } from "./secured.ts";

/** What is known of a stream when its handshake is over. */
export interface TlsStreamParts extends Secured {
  /** Carries the encrypted bytes; it belongs to the stream from now on. */
  readonly raw: StreamFd;
  readonly channel: SslChannel;
  /** The ends that a trusted proxy speaks for, in place of the real ones. */
  readonly proxied?: { readonly remote: SocketAddress; readonly local: SocketAddress } | undefined;
}

/**
 * What a client says and hears inside TLS. The end of a stream is close_notify, then FIN; a FIN
 * without it is a failure (ECONNRESET): somebody may have cut the stream off. As with every
 * stream, bytes that a write did not take are what the next one begins with.
 */
export class TlsStream implements StreamFd, Secured {
  readonly alpn: string;
  readonly serverName: string;
  readonly splice: SpliceEnd | undefined = undefined;
  /** Bytes may have come with the end of the handshake already. */
  readable = true;
  writable = true;
  readonly #raw: StreamFd;
  readonly #channel: SslChannel;
  readonly #proxied: TlsStreamParts["proxied"];
  #failure = 0;
  /** The end is to be said as soon as there is room for it. */
  #endWaits = false;

  constructor({ raw, channel, alpn, serverName, proxied }: TlsStreamParts) {
    this.#raw = raw;
    this.#channel = channel;
    this.alpn = alpn;
    this.serverName = serverName;
    this.#proxied = proxied;
  }

  get isClosed(): boolean {
    return this.#raw.isClosed;
  }

  /** Where the handshake is over already, as that of a client is. */
  finishOpen(): number {
    return 0;
  }

  /** A record holds less than many a buffer: so several are taken. */
  read(region: Region, start: number, byteCount: number): number {
    if (this.#failure < 0) return this.#failure;
    let total = 0;
    while (total < byteCount) {
      const count = this.#channel.read(region.address + start + total, byteCount - total);
      if (count > 0) {
        total += count;
        continue;
      }
      if (count === -ERRNO.EAGAIN) this.readable = false;
      else if (count < 0) this.#failure = count;
      return total > 0 ? total : count;
    }
    return total;
  }

  write(region: Region, start: number, byteCount: number): number {
    if (this.#failure < 0) return this.#failure;
    let total = 0;
    while (total < byteCount) {
      const count = this.#channel.write(region.address + start + total, byteCount - total);
      if (count > 0) {
        total += count;
        continue;
      }
      if (count === -ERRNO.EAGAIN) this.writable = false;
      else this.#failure = count;
      return total > 0 ? total : count;
    }
    return total;
  }

  takeError(): number {
    return this.#failure < 0 ? this.#failure : this.#raw.takeError();
  }

  shutdownWrite(): number {
    const said = this.#channel.sayEnd();
    this.#endWaits = said === -ERRNO.EAGAIN;
    return this.#endWaits ? 0 : this.#raw.shutdownWrite();
  }

  reset(): void {
    this.#free(() => this.#raw.reset());
  }

  close(): void {
    if (!this.isClosed) this.#channel.sayEnd();
    this.#free(() => this.#raw.close());
  }

  localAddress(): SocketAddress {
    return this.#proxied?.local ?? this.#raw.localAddress();
  }

  remoteAddress(): SocketAddress {
    return this.#proxied?.remote ?? this.#raw.remoteAddress();
  }

  originalDestination(): SocketAddress | undefined {
    return this.#raw.originalDestination?.();
  }

  /** Its keys are in the memory of this loop. */
  handOff(): HandOff | undefined {
    return undefined;
  }

  attach(slot: number, generation: number): number {
    return this.#raw.attach(slot, generation);
  }

  detach(): void {
    this.#raw.detach();
  }

  noteReady(ready: number): void {
    this.#raw.noteReady(ready);
    if ((ready & READABLE) !== 0) this.readable = true;
    if ((ready & WRITABLE) === 0) return;
    this.writable = true;
    if (this.#endWaits) this.shutdownWrite();
  }

  #free(end: () => void): void {
    if (this.isClosed) return;
    this.#channel.free();
    this.#failure = -ERRNO.EBADF;
    this.readable = false;
    this.writable = false;
    end();
  }
}
