import { ERRNO } from "../../errno.ts";
import { failure } from "../binding.ts";
import { allocateNative, getSize } from "../native-memory.ts";
import type { OpenSslCalls } from "./openssl-calls.ts";
import { expectGood, takeFailure } from "./openssl-error.ts";
import {
  SSL_ERROR_SYSCALL,
  SSL_ERROR_WANT_READ,
  SSL_ERROR_WANT_WRITE,
  SSL_ERROR_ZERO_RETURN,
  SSL_R_UNEXPECTED_EOF_WHILE_READING,
} from "./openssl-numbers.ts";
import type { SslContext } from "./ssl-context.ts";

const POINTER_BYTES = 8;
/** RFC 7301: the length of a name is one byte. */
const MAX_ALPN_BYTES = 255;

/**
 * SSL(3ssl), the server's side of one connection on a non-blocking socket that is the caller's. Results
 * are counts or negative errnos: `-EAGAIN` as usual, `-EPROTO` where the peer breaks the rules of TLS
 * (`reason` says which), `-ECONNRESET` also where it ended without saying so. After any other error
 * than EAGAIN it is of no use but to be freed.
 */
export class SslChannel {
  readonly #calls: OpenSslCalls;
  #ssl: number;
  #hasFailed = false;
  #hasSaidEnd = false;
  /** In words, of the last `-EPROTO`. */
  reason = "";

  constructor(calls: OpenSslCalls, context: SslContext, descriptor: number) {
    this.#calls = calls;
    this.#ssl = expectGood(calls, "SSL_new", calls.sslNew(context.address));
    expectGood(calls, "SSL_set_fd", calls.sslSetFd(this.#ssl, descriptor));
  }

  /** SSL_accept(3): 0 when the handshake is over. */
  accept(): number {
    const result = this.#calls.sslAccept(this.#ssl);
    return result === 1 ? 0 : this.#failure(result);
  }

  /** SSL_read(3): up to a record; 0 when the peer has said that it sends no more. */
  read(address: number, byteCount: number): number {
    const count = this.#calls.sslRead(this.#ssl, address, byteCount);
    return count > 0 ? count : this.#failure(count);
  }

  /**
   * SSL_write(3): up to a record. After EAGAIN the next call must begin with the same bytes, and have
   * as many at least: they are encrypted already.
   */
  write(address: number, byteCount: number): number {
    const count = this.#calls.sslWrite(this.#ssl, address, byteCount);
    // What a read gives for the end of the peer's bytes is none of a write's.
    return count > 0 ? count : this.#failure(count) || -ERRNO.EPIPE;
  }

  /** SSL_shutdown(3): tells the peer that no more comes. 0 when that is sent. */
  sayEnd(): number {
    if (this.#hasFailed || this.#hasSaidEnd) return 0;
    const result = this.#calls.sslShutdown(this.#ssl);
    if (result < 0) return this.#failure(result);
    this.#hasSaidEnd = true;
    return 0;
  }

  /** SSL_get0_alpn_selected(3): empty where none was. */
  alpn(): string {
    const { address, bytes, view } = allocateNative(POINTER_BYTES + MAX_ALPN_BYTES);
    this.#calls.sslGetAlpn(this.#ssl, address, address + POINTER_BYTES);
    const byteCount = view.getUint32(POINTER_BYTES, true);
    this.#calls.copy(address, getSize(view, 0), byteCount);
    return Buffer.from(bytes.subarray(0, byteCount)).toString("latin1");
  }

  /** Nothing may be called after it but itself and `sayEnd`. */
  free(): void {
    if (this.#ssl !== 0) this.#calls.sslFree(this.#ssl);
    this.#ssl = 0;
    this.#hasFailed = true;
  }

  #failure(result: number): number {
    switch (this.#calls.sslGetError(this.#ssl, result)) {
      case SSL_ERROR_WANT_READ:
      case SSL_ERROR_WANT_WRITE:
        return -ERRNO.EAGAIN;
      case SSL_ERROR_ZERO_RETURN:
        return 0;
      case SSL_ERROR_SYSCALL: {
        this.#hasFailed = true;
        const errno = failure();
        this.#calls.errClearError();
        return errno === 0 ? -ERRNO.ECONNRESET : errno;
      }
      default: {
        this.#hasFailed = true;
        const { reason, text } = takeFailure(this.#calls);
        this.reason = this.#verifyFailure() ?? text;
        return reason === SSL_R_UNEXPECTED_EOF_WHILE_READING ? -ERRNO.ECONNRESET : -ERRNO.EPROTO;
      }
    }
  }

  /** Why the certificate of a client is not good, where that is what went wrong. */
  #verifyFailure(): string | undefined {
    const result = this.#calls.sslGetVerifyResult(this.#ssl);
    if (result === 0) return undefined;
    return `client certificate: ${this.#calls.verifyErrorString(result) ?? result}`;
  }
}
