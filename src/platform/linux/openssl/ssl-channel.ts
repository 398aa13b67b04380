import { ERRNO } from "../../errno.ts";
import { failure } from "../binding.ts";
import { allocateNative, getSize, putPointer } from "../native-memory.ts";
import type { OpenSslCalls } from "./openssl-calls.ts";
import type { OpenSslClientCalls } from "./openssl-client-calls.ts";
import { expectGood, takeFailure } from "./openssl-error.ts";
import {
  SSL_CTRL_SET_TLSEXT_HOSTNAME,
  SSL_ERROR_SYSCALL,
  SSL_ERROR_WANT_READ,
  SSL_ERROR_WANT_WRITE,
  SSL_ERROR_ZERO_RETURN,
  SSL_R_UNEXPECTED_EOF_WHILE_READING,
  SSL_SENT_SHUTDOWN,
} from "./openssl-numbers.ts";
import { cText } from "./read-pem.ts";

const POINTER_BYTES = 8;
/** RFC 7301: the length of a name is one byte. */
const MAX_ALPN_BYTES = 255;

/**
 * SSL(3ssl), one side of a connection on a non-blocking socket that is the caller's. Results
 * are counts or negative errnos: `-EAGAIN` as usual, `-EPROTO` where the peer breaks the rules of TLS
 * (`reason` says which), `-ECONNRESET` also where it ended without saying so. After any other error
 * than EAGAIN it is of no use but to be freed.
 */
export class SslChannel {
  readonly #calls: OpenSslCalls;
  readonly #peer: "client" | "server";
  #ssl: number;
  #hasFailed = false;
  #hasSaidEnd = false;
  /** In words, of the last `-EPROTO`. */
  reason = "";

  /** @param peer who is on the other side */
  constructor(
    calls: OpenSslCalls,
    context: { readonly address: number },
    descriptor: number,
    peer: "client" | "server" = "client",
  ) {
    this.#calls = calls;
    this.#peer = peer;
    this.#ssl = expectGood(calls, "SSL_new", calls.sslNew(context.address));
    expectGood(calls, "SSL_set_fd", calls.sslSetFd(this.#ssl, descriptor));
  }

  /** SSL_accept(3): 0 when the handshake is over. */
  accept(): number {
    const result = this.#calls.sslAccept(this.#ssl);
    return result === 1 ? 0 : this.#failure(result);
  }

  /**
   * The server that is to be called: its certificate must be for that name or address.
   * @param isName whether it is a name, which the server is told (SNI)
   */
  expectServer(client: OpenSslClientCalls, host: string, isName: boolean): void {
    const text = cText(host);
    const [calls, ssl] = [this.#calls, this.#ssl];
    if (!isName) {
      const set = client.paramSet1IpAsc(client.sslGet0Param(ssl), text.address);
      expectGood(calls, "X509_VERIFY_PARAM_set1_ip_asc", set);
      return;
    }
    const named = client.sslCtrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, 0, text.address);
    expectGood(calls, "SSL_set_tlsext_host_name", named);
    expectGood(calls, "SSL_set1_host", client.sslSet1Host(ssl, text.address));
  }

  /** SSL_set_session(3), before `connect`: what was said with the server before need not be said again. */
  resume(client: OpenSslClientCalls, session: number): void {
    client.sslSetSession(this.#ssl, session);
  }

  /**
   * SSL_get1_session(3): by which the next connection can be resumed, to be freed by the caller; 0 where it can not.
   * Servers of TLS 1.3 give it after the handshake, with the first bytes that are read.
   */
  session(client: OpenSslClientCalls): number {
    if (this.#hasFailed) return 0;
    const session = client.sslGet1Session(this.#ssl);
    if (session === 0 || client.sessionIsResumable(session) === 1) return session;
    client.sessionFree(session);
    return 0;
  }

  /**
   * SSL_set_shutdown(3), before a connection is cut off: OpenSSL would spoil its session, which need not be since
   * TLS 1.1 (RFC 4346, 7.2.1).
   */
  spareSession(client: OpenSslClientCalls): void {
    if (!this.#hasFailed) client.sslSetShutdown(this.#ssl, SSL_SENT_SHUTDOWN);
  }

  /** SSL_connect(3): 0 when the handshake is over. */
  connect(client: OpenSslClientCalls): number {
    const result = client.sslConnect(this.#ssl);
    return result === 1 ? 0 : this.#failure(result);
  }

  /** SSL_get1_peer_certificate(3): DER; undefined where the peer has shown none. */
  peerCertificate(): Buffer | undefined {
    const calls = this.#calls;
    const x509 = calls.sslGetPeerCertificate(this.#ssl);
    if (x509 === 0) return undefined;
    const byteCount = calls.x509ToDer(x509, 0);
    const memory = allocateNative(POINTER_BYTES + Math.max(0, byteCount));
    putPointer(memory.view, 0, memory.address + POINTER_BYTES);
    const written = byteCount > 0 ? calls.x509ToDer(x509, memory.address) : byteCount;
    calls.x509Free(x509);
    return written > 0 ? Buffer.from(memory.bytes.subarray(POINTER_BYTES)) : undefined;
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

  /** Why the certificate of the peer is not good, where that is what went wrong. */
  #verifyFailure(): string | undefined {
    const result = this.#calls.sslGetVerifyResult(this.#ssl);
    if (result === 0) return undefined;
    return `${this.#peer} certificate: ${this.#calls.verifyErrorString(result) ?? result}`;
  }
}
