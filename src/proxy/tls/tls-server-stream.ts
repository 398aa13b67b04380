import { ERRNO } from "../../platform/errno.ts";
import type { OpenSslClientCalls } from "../../platform/linux/openssl/openssl-client-calls.ts";
import { TlsStream, type TlsStreamParts } from "./tls-stream.ts";

/** A stream of TLS to a server: it is open when its handshake is over and the certificate was good. */
export class TlsServerStream extends TlsStream {
  readonly #parts: TlsStreamParts;
  readonly #client: OpenSslClientCalls;
  #isOpen = false;
  /** In words, where the handshake has failed. */
  problem = "";

  constructor(parts: TlsStreamParts, client: OpenSslClientCalls) {
    super(parts);
    this.#parts = parts;
    this.#client = client;
  }

  override finishOpen(): number {
    if (this.#isOpen) return 0;
    const { raw, channel } = this.#parts;
    const connected = raw.finishOpen();
    if (connected < 0) return connected;
    const result = channel.connect(this.#client);
    if (result === -ERRNO.EAGAIN) return -ERRNO.EINPROGRESS;
    this.#isOpen = result === 0;
    if (result === -ERRNO.EPROTO) this.problem = channel.reason;
    return result;
  }
}
