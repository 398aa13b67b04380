import { allocateNative } from "../native-memory.ts";
import type { AlpnSelectors } from "./alpn-selectors.ts";
import type { OpenSslCalls } from "./openssl-calls.ts";
import type { OpenSslClientCalls } from "./openssl-client-calls.ts";
import { expectGood } from "./openssl-error.ts";
import {
  SSL_CTRL_CHAIN_CERT,
  SSL_CTRL_MODE,
  SSL_CTRL_SET_MAX_CERT_LIST,
  SSL_CTRL_SET_MIN_PROTO_VERSION,
  SSL_CTRL_SET_READ_AHEAD,
  SSL_CTRL_SET_SESS_CACHE_SIZE,
  SSL_CTRL_SET_TLSEXT_TICKET_KEYS,
  SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER,
  SSL_MODE_ENABLE_PARTIAL_WRITE,
  SSL_MODE_RELEASE_BUFFERS,
  SSL_OP_NO_COMPRESSION,
  SSL_OP_NO_RENEGOTIATION,
  SSL_VERIFY_FAIL_IF_NO_PEER_CERT,
  SSL_VERIFY_PEER,
  TICKET_KEY_BYTES,
  TLS1_2_VERSION,
} from "./openssl-numbers.ts";
import { cText, readCertificates, readPrivateKey } from "./read-pem.ts";

export interface CertificatePair {
  /** PEM text: the certificate, then its chain. */
  readonly certPem: string;
  readonly keyPem: string;
}

export interface SslContextOptions {
  /** One for each type of key. */
  readonly certificates: readonly CertificatePair[];
  /** Where servers are at the other end: the calls of a client. */
  readonly client?: OpenSslClientCalls;
  /** PEM text of the authorities whose peers are let in; empty: clients need no certificate. */
  readonly clientCaPem: string;
  /** Protocols to choose from, the best one first; empty: none is chosen. */
  readonly alpn: readonly string[];
  /** 32 bytes at most: sessions are resumed only where they are the same. */
  readonly sessionContext: Uint8Array;
}

/** With forward secrecy and authenticated; those of TLS 1.3 all are. Keys of RSA from 2048 bits on. */
const CIPHERS = "ECDHE+AESGCM:ECDHE+CHACHA20:@SECLEVEL=2";
const MODE =
  SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER | SSL_MODE_RELEASE_BUFFERS;
/** Two records at a time from the system; lent while bytes are in it. */
const READ_BUFFER_BYTES = 33_280;
/** What a client may send for its certificate and chain. */
const MAX_CLIENT_CHAIN_BYTES = 32_768;
/** For clients of TLS 1.2 that know no tickets: their sessions stay here. */
const MAX_SESSIONS = 4096;
/** A client of TLS 1.3 gets so many after a handshake. */
const TICKETS = 1;

/** SSL_CTX: what the connections of a listener have in common. Those that are open keep it alive. */
export class SslContext {
  readonly address: number;
  readonly #peer: "client" | "server";
  readonly #calls: OpenSslCalls;

  /** @throws CoreError where a certificate, a key or an authority can not be used */
  constructor(calls: OpenSslCalls, selectors: AlpnSelectors, options: SslContextOptions) {
    this.#calls = calls;
    this.#peer = options.client === undefined ? "client" : "server";
    const method = options.client?.clientMethod() ?? calls.serverMethod();
    this.address = expectGood(calls, "SSL_CTX_new", calls.ctxNew(method));
    try {
      this.#setDefaults();
      for (const pair of options.certificates) this.#use(pair);
      if (options.clientCaPem !== "") this.#askPeers(options.clientCaPem);
      this.#setSessionContext(options.sessionContext);
      if (options.alpn.length > 0) {
        calls.ctxSetAlpnSelectCb(this.address, selectors.addressFor(options.alpn), 0);
      }
    } catch (error) {
      this.free();
      throw error;
    }
  }

  /** The key that tickets are made with and read with from now on: `TICKET_KEY_BYTES`. */
  setTicketKey(key: Uint8Array): void {
    const memory = allocateNative(TICKET_KEY_BYTES);
    memory.bytes.set(key);
    this.#ctrl(SSL_CTRL_SET_TLSEXT_TICKET_KEYS, TICKET_KEY_BYTES, memory.address);
    memory.bytes.fill(0);
  }

  free(): void {
    this.#calls.ctxFree(this.address);
  }

  #setDefaults(): void {
    const calls = this.#calls;
    this.#ctrl(SSL_CTRL_SET_MIN_PROTO_VERSION, TLS1_2_VERSION, 0);
    calls.ctxSetOptions(this.address, SSL_OP_NO_COMPRESSION + SSL_OP_NO_RENEGOTIATION);
    const ciphers = cText(CIPHERS);
    const listed = calls.ctxSetCipherList(this.address, ciphers.address);
    expectGood(calls, "SSL_CTX_set_cipher_list", listed);
    calls.ctxCtrl(this.address, SSL_CTRL_MODE, MODE, 0);
    calls.ctxCtrl(this.address, SSL_CTRL_SET_READ_AHEAD, 1, 0);
    calls.ctxSetReadBufferLen(this.address, READ_BUFFER_BYTES);
    calls.ctxCtrl(this.address, SSL_CTRL_SET_MAX_CERT_LIST, MAX_CLIENT_CHAIN_BYTES, 0);
    calls.ctxCtrl(this.address, SSL_CTRL_SET_SESS_CACHE_SIZE, MAX_SESSIONS, 0);
    calls.ctxSetNumTickets(this.address, TICKETS);
  }

  #use({ certPem, keyPem }: CertificatePair): void {
    const calls = this.#calls;
    let isFirst = true;
    readCertificates(calls, certPem, (x509) => {
      if (isFirst) {
        const used = calls.ctxUseCertificate(this.address, x509);
        calls.x509Free(x509);
        expectGood(calls, "SSL_CTX_use_certificate", used);
        isFirst = false;
      } else this.#ctrl(SSL_CTRL_CHAIN_CERT, 0, x509);
    });
    const key = readPrivateKey(calls, keyPem);
    const used = calls.ctxUsePrivateKey(this.address, key);
    calls.pkeyFree(key);
    expectGood(calls, "SSL_CTX_use_PrivateKey", used);
    expectGood(calls, "SSL_CTX_check_private_key", calls.ctxCheckPrivateKey(this.address));
  }

  #askPeers(caPem: string): void {
    const calls = this.#calls;
    const store = calls.ctxGetCertStore(this.address);
    readCertificates(calls, caPem, (x509) => {
      const added = calls.storeAddCert(store, x509);
      const named = this.#peer === "client" ? calls.ctxAddClientCa(this.address, x509) : 1;
      calls.x509Free(x509);
      expectGood(calls, "X509_STORE_add_cert", added);
      expectGood(calls, "SSL_CTX_add_client_CA", named);
    });
    calls.ctxSetVerify(this.address, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, 0);
  }

  #setSessionContext(context: Uint8Array): void {
    const memory = allocateNative(context.length);
    memory.bytes.set(context);
    const set = this.#calls.ctxSetSessionIdContext(this.address, memory.address, context.length);
    expectGood(this.#calls, "SSL_CTX_set_session_id_context", set);
  }

  #ctrl(command: number, value: number, address: number): void {
    const result = this.#calls.ctxCtrl(this.address, command, value, address);
    expectGood(this.#calls, `SSL_CTX_ctrl ${command}`, result);
  }
}
