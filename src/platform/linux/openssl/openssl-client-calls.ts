import { bindCall } from "../binding.ts";

type Call<A extends readonly number[]> = (...args: A) => number;

/** What a client of TLS needs of OpenSSL beyond `OpenSslCalls`; bound when the first one is made. */
export class OpenSslClientCalls {
  readonly clientMethod: Call<[]> = bindCall("uintptr_t TLS_client_method()");
  readonly sslConnect: Call<[number]> = bindCall("int SSL_connect(uintptr_t)");
  readonly sslCtrl: Call<[number, number, number, number]> = bindCall(
    "long SSL_ctrl(uintptr_t, int, long, uintptr_t)",
  );
  readonly sslGet1Session: Call<[number]> = bindCall("uintptr_t SSL_get1_session(uintptr_t)");
  readonly sslSetSession: Call<[number, number]> = bindCall(
    "int SSL_set_session(uintptr_t, uintptr_t)",
  );
  readonly sessionIsResumable: Call<[number]> = bindCall("int SSL_SESSION_is_resumable(uintptr_t)");
  readonly sessionFree: Call<[number]> = bindCall("void SSL_SESSION_free(uintptr_t)");
  readonly sslSetShutdown: Call<[number, number]> = bindCall(
    "void SSL_set_shutdown(uintptr_t, int)",
  );
  readonly sslSet1Host: Call<[number, number]> = bindCall(
    "int SSL_set1_host(uintptr_t, uintptr_t)",
  );
  readonly sslGet0Param: Call<[number]> = bindCall("uintptr_t SSL_get0_param(uintptr_t)");
  readonly paramSet1IpAsc: Call<[number, number]> = bindCall(
    "int X509_VERIFY_PARAM_set1_ip_asc(uintptr_t, uintptr_t)",
  );
}
