import type { OpenSslCalls } from "./openssl-calls.ts";
import type { OpenSslClientCalls } from "./openssl-client-calls.ts";
import { expectGood } from "./openssl-error.ts";
import {
  SSL_CTRL_MODE,
  SSL_CTRL_SET_MIN_PROTO_VERSION,
  SSL_CTRL_SET_READ_AHEAD,
  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
  SSL_MODE_ENABLE_PARTIAL_WRITE,
  SSL_MODE_RELEASE_BUFFERS,
  SSL_OP_NO_COMPRESSION,
  SSL_OP_NO_RENEGOTIATION,
  SSL_VERIFY_PEER,
  TLS1_2_VERSION,
} from "./openssl-numbers.ts";
import { readCertificates } from "./read-pem.ts";

const MODE =
  SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS;
/** Two records at a time from the system; lent while bytes are in it. */
const READ_BUFFER_BYTES = 33_280;

/** SSL_CTX for calling servers whose certificates are checked. Connections that are open keep it alive. */
export class SslClientContext {
  readonly address: number;
  readonly #calls: OpenSslCalls;

  /**
   * @param caPem PEM text of the authorities that certificates must be from
   * @throws CoreError where it has none that can be used
   */
  constructor(calls: OpenSslCalls, client: OpenSslClientCalls, caPem: string) {
    this.#calls = calls;
    this.address = expectGood(calls, "SSL_CTX_new", calls.ctxNew(client.clientMethod()));
    try {
      this.#setDefaults();
      this.#trust(caPem);
    } catch (error) {
      this.free();
      throw error;
    }
  }

  free(): void {
    this.#calls.ctxFree(this.address);
  }

  #setDefaults(): void {
    const calls = this.#calls;
    const set = calls.ctxCtrl(this.address, SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, 0);
    expectGood(calls, "SSL_CTX_set_min_proto_version", set);
    calls.ctxSetOptions(this.address, SSL_OP_NO_COMPRESSION + SSL_OP_NO_RENEGOTIATION);
    calls.ctxCtrl(this.address, SSL_CTRL_MODE, MODE, 0);
    calls.ctxCtrl(this.address, SSL_CTRL_SET_READ_AHEAD, 1, 0);
    calls.ctxSetReadBufferLen(this.address, READ_BUFFER_BYTES);
    calls.ctxSetVerify(this.address, SSL_VERIFY_PEER, 0);
  }

  #trust(caPem: string): void {
    const calls = this.#calls;
    const store = calls.ctxGetCertStore(this.address);
    readCertificates(calls, caPem, (x509) => {
      const added = calls.storeAddCert(store, x509);
      calls.x509Free(x509);
      expectGood(calls, "X509_STORE_add_cert", added);
    });
  }
}
