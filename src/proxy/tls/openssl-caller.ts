import { canonicalIp } from "../../core/model/address.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { OpenSslCalls } from "../../platform/linux/openssl/openssl-calls.ts";
import type { OpenSslClientCalls } from "../../platform/linux/openssl/openssl-client-calls.ts";
import { SslChannel } from "../../platform/linux/openssl/ssl-channel.ts";
import { SslClientContext } from "../../platform/linux/openssl/ssl-client-context.ts";
import { TlsServerStream } from "./tls-server-stream.ts";
import type { TlsCaller } from "./tls-termination.ts";

/** Calls servers through Node's own OpenSSL. */
export class OpenSslCaller implements TlsCaller {
  readonly #calls: OpenSslCalls;
  readonly #client: OpenSslClientCalls;
  readonly #context: SslClientContext;

  constructor(calls: OpenSslCalls, client: OpenSslClientCalls, caPem: string) {
    this.#calls = calls;
    this.#client = client;
    this.#context = new SslClientContext(calls, client, caPem);
  }

  secure(raw: StreamFd, host: string): TlsServerStream {
    const descriptor = raw.splice?.descriptor ?? -1;
    const channel = new SslChannel(this.#calls, this.#context, descriptor, "server");
    const ip = canonicalIp(host);
    channel.expectServer(this.#client, ip ?? host, ip === undefined);
    return new TlsServerStream({ raw, channel, alpn: "", serverName: "" }, this.#client);
  }

  close(): void {
    this.#context.free();
  }
}
