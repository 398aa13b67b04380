import { bindCall, bindText } from "../binding.ts";

type Call<A extends readonly number[]> = (...args: A) => number;
type Text<A extends readonly number[]> = (...args: A) => string | null;

/**
 * The OpenSSL that Node itself runs on: its symbols are already in the process, and a second one must
 * never be loaded beside it. Bound when the first one is made; where a symbol is missing that throws,
 * naming it. Each call is named as its man page; pointers are numbers, 0 is NULL.
 */
export class OpenSslCalls {
  /** memcpy(3), for texts that OpenSSL owns. */
  readonly copy: Call<[number, number, number]> = bindCall(
    "uintptr_t memcpy(uintptr_t, uintptr_t, size_t)",
  );
  readonly versionMajor: Call<[]> = bindCall("uint OPENSSL_version_major()");

  readonly errGetError: Call<[]> = bindCall("ulong ERR_get_error()");
  readonly errReasonErrorString: Text<[number]> = bindText(
    "const char *ERR_reason_error_string(ulong)",
  );
  readonly errClearError: Call<[]> = bindCall("void ERR_clear_error()");

  readonly bioNewMemBuf: Call<[number, number]> = bindCall(
    "uintptr_t BIO_new_mem_buf(uintptr_t, int)",
  );
  readonly bioFree: Call<[number]> = bindCall("int BIO_free(uintptr_t)");
  readonly pemReadX509: Call<[number, number, number, number]> = bindCall(
    "uintptr_t PEM_read_bio_X509(uintptr_t, uintptr_t, uintptr_t, uintptr_t)",
  );
  readonly pemReadPrivateKey: Call<[number, number, number, number]> = bindCall(
    "uintptr_t PEM_read_bio_PrivateKey(uintptr_t, uintptr_t, uintptr_t, uintptr_t)",
  );
  readonly x509Free: Call<[number]> = bindCall("void X509_free(uintptr_t)");
  readonly pkeyFree: Call<[number]> = bindCall("void EVP_PKEY_free(uintptr_t)");
  readonly storeAddCert: Call<[number, number]> = bindCall(
    "int X509_STORE_add_cert(uintptr_t, uintptr_t)",
  );
  readonly verifyErrorString: Text<[number]> = bindText(
    "const char *X509_verify_cert_error_string(long)",
  );

  readonly serverMethod: Call<[]> = bindCall("uintptr_t TLS_server_method()");
  readonly ctxNew: Call<[number]> = bindCall("uintptr_t SSL_CTX_new(uintptr_t)");
  readonly ctxFree: Call<[number]> = bindCall("void SSL_CTX_free(uintptr_t)");
  readonly ctxCtrl: Call<[number, number, number, number]> = bindCall(
    "long SSL_CTX_ctrl(uintptr_t, int, long, uintptr_t)",
  );
  readonly ctxSetOptions: Call<[number, number]> = bindCall(
    "uint64_t SSL_CTX_set_options(uintptr_t, uint64_t)",
  );
  readonly ctxSetCipherList: Call<[number, number]> = bindCall(
    "int SSL_CTX_set_cipher_list(uintptr_t, uintptr_t)",
  );
  readonly ctxUseCertificate: Call<[number, number]> = bindCall(
    "int SSL_CTX_use_certificate(uintptr_t, uintptr_t)",
  );
  readonly ctxUsePrivateKey: Call<[number, number]> = bindCall(
    "int SSL_CTX_use_PrivateKey(uintptr_t, uintptr_t)",
  );
  readonly ctxCheckPrivateKey: Call<[number]> = bindCall(
    "int SSL_CTX_check_private_key(uintptr_t)",
  );
  readonly ctxSetNumTickets: Call<[number, number]> = bindCall(
    "int SSL_CTX_set_num_tickets(uintptr_t, size_t)",
  );
  readonly ctxSetReadBufferLen: Call<[number, number]> = bindCall(
    "void SSL_CTX_set_default_read_buffer_len(uintptr_t, size_t)",
  );
  readonly ctxSetSessionIdContext: Call<[number, number, number]> = bindCall(
    "int SSL_CTX_set_session_id_context(uintptr_t, uintptr_t, uint)",
  );
  readonly ctxSetVerify: Call<[number, number, number]> = bindCall(
    "void SSL_CTX_set_verify(uintptr_t, int, uintptr_t)",
  );
  readonly ctxGetCertStore: Call<[number]> = bindCall(
    "uintptr_t SSL_CTX_get_cert_store(uintptr_t)",
  );
  readonly ctxAddClientCa: Call<[number, number]> = bindCall(
    "int SSL_CTX_add_client_CA(uintptr_t, uintptr_t)",
  );
  readonly ctxSetAlpnSelectCb: Call<[number, number, number]> = bindCall(
    "void SSL_CTX_set_alpn_select_cb(uintptr_t, uintptr_t, uintptr_t)",
  );
  readonly selectNextProto: Call<[number, number, number, number, number, number]> = bindCall(
    "int SSL_select_next_proto(uintptr_t, uintptr_t, uintptr_t, uint, uintptr_t, uint)",
  );

  readonly sslNew: Call<[number]> = bindCall("uintptr_t SSL_new(uintptr_t)");
  readonly sslFree: Call<[number]> = bindCall("void SSL_free(uintptr_t)");
  readonly sslSetFd: Call<[number, number]> = bindCall("int SSL_set_fd(uintptr_t, int)");
  readonly sslAccept: Call<[number]> = bindCall("int SSL_accept(uintptr_t)");
  readonly sslGetPeerCertificate: Call<[number]> = bindCall(
    "uintptr_t SSL_get1_peer_certificate(uintptr_t)",
  );
  readonly x509ToDer: Call<[number, number]> = bindCall("int i2d_X509(uintptr_t, uintptr_t)");
  readonly sslRead: Call<[number, number, number]> = bindCall(
    "int SSL_read(uintptr_t, uintptr_t, int)",
  );
  readonly sslWrite: Call<[number, number, number]> = bindCall(
    "int SSL_write(uintptr_t, uintptr_t, int)",
  );
  readonly sslShutdown: Call<[number]> = bindCall("int SSL_shutdown(uintptr_t)");
  readonly sslGetError: Call<[number, number]> = bindCall("int SSL_get_error(uintptr_t, int)");
  readonly sslGetVerifyResult: Call<[number]> = bindCall("long SSL_get_verify_result(uintptr_t)");
  readonly sslGetAlpn: Call<[number, number, number]> = bindCall(
    "void SSL_get0_alpn_selected(uintptr_t, uintptr_t, uintptr_t)",
  );
}
