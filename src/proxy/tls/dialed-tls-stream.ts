import type { StreamFd } from "../../net/fd.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { OpenSslClientCalls } from "../../platform/linux/openssl/openssl-client-calls.ts";
import type { SslChannel } from "../../platform/linux/openssl/ssl-channel.ts";
import { TlsStream } from "./tls-stream.ts";

export interface DialedTlsParts {
  /** A connection that is being made; it belongs to the stream from now on. */
  readonly raw: StreamFd;
  readonly channel: SslChannel;
  readonly client: OpenSslClientCalls;
  /** Why the server is not the right one; undefined where it is. */
  readonly refusalOf: (shown: () => Buffer | undefined) => string | undefined;
  /** It is not: told before it fails. */
  readonly refused: (reason: string) => void;
  /** Takes what the next connection to the server can be resumed by; 0: nothing. */
  readonly keepSession: (session: number) => void;
}

/** What a server says and hears inside TLS. It is open when the handshake is over and the server is the right one. */
export class DialedTlsStream extends TlsStream {
  readonly #parts: DialedTlsParts;
  /** As `finishOpen` has it. */
  #opened: number = -ERRNO.EINPROGRESS;

  constructor(parts: DialedTlsParts) {
    super({ raw: parts.raw, channel: parts.channel, alpn: "", serverName: "" });
    this.#parts = parts;
  }

  override finishOpen(): number {
    if (this.#opened === -ERRNO.EINPROGRESS) this.#opened = this.#open();
    return this.#opened;
  }

  override close(): void {
    this.#keepSession();
    super.close();
  }

  override reset(): void {
    this.#keepSession();
    if (!this.isClosed) this.#parts.channel.spareSession(this.#parts.client);
    super.reset();
  }

  #keepSession(): void {
    if (this.#opened !== 0 || this.isClosed) return;
    const { channel, client, keepSession } = this.#parts;
    keepSession(channel.session(client));
  }

  #open(): number {
    const { raw, channel, client, refusalOf, refused } = this.#parts;
    const connected = raw.finishOpen();
    if (connected < 0) return connected;
    const result = channel.connect(client);
    if (result === -ERRNO.EAGAIN) return -ERRNO.EINPROGRESS;
    if (result < 0) {
      refused(result === -ERRNO.EPROTO ? channel.reason : errnoName(result));
      return result;
    }
    const refusal = refusalOf(() => channel.peerCertificate());
    if (refusal === undefined) return 0;
    refused(refusal);
    return -ERRNO.EPROTO;
  }
}
