import { CoreError, messageOf } from "../../core/errors.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { OpenSslClientCalls } from "../../platform/linux/openssl/openssl-client-calls.ts";
import { SslChannel } from "../../platform/linux/openssl/ssl-channel.ts";
import { SslContext } from "../../platform/linux/openssl/ssl-context.ts";
import type { DialTlsConfig } from "../engine-config.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { DialedTlsStream } from "./dialed-tls-stream.ts";
import { LimitedWarnings } from "./limited-warnings.ts";
import { PeerGuard } from "./peer-guard.ts";
import { SessionShelf } from "./session-shelf.ts";
import type { TlsTools } from "./terminator.ts";
import type { TlsDialer } from "./tls-termination.ts";

/** Speaks TLS with the servers of one group, through Node's own OpenSSL. */
export class OpenSslDialer implements TlsDialer {
  readonly #tools: TlsTools;
  readonly #group: string;
  readonly #client: OpenSslClientCalls;
  readonly #context: SslContext;
  readonly #guard: PeerGuard;
  readonly #warnings: LimitedWarnings;
  readonly #sessions: SessionShelf;
  #isClosed = false;

  /** @throws CoreError ERR_CONFIG_INVALID where the certificate or the authorities can not be used */
  constructor(
    tools: TlsTools,
    host: SessionHost,
    {
      config,
      group,
      client,
    }: {
      readonly config: DialTlsConfig;
      readonly group: string;
      readonly client: OpenSslClientCalls;
    },
  ) {
    this.#tools = tools;
    this.#group = group;
    this.#client = client;
    const { certificate, caPem, peers } = config;
    try {
      this.#context = new SslContext(tools.calls, tools.selectors, {
        client,
        certificates: [certificate],
        clientCaPem: caPem,
        alpn: [],
        sessionContext: Buffer.from("dial"),
      });
    } catch (cause) {
      const message = `certificate ${certificate.key}, group ${group}: can not be used: ${messageOf(cause)}`;
      throw new CoreError("ERR_CONFIG_INVALID", message, { cause });
    }
    this.#guard = new PeerGuard(peers, tools.nowMs);
    this.#warnings = new LimitedWarnings(host.log, tools.nowMs);
    this.#sessions = new SessionShelf(client);
  }

  wrap(fd: StreamFd, server: string): StreamFd {
    const descriptor = fd.splice?.descriptor ?? -1;
    // A connection keeps the context for as long as it needs it.
    const channel = new SslChannel(this.#tools.calls, this.#context, descriptor, "server");
    const session = this.#sessions.find(server);
    if (session !== 0) channel.resume(this.#client, session);
    return new DialedTlsStream({
      raw: fd,
      channel,
      client: this.#client,
      refusalOf: (shown) => this.#guard.refusalOf(shown),
      keepSession: (kept) => this.#sessions.put(server, kept),
      refused: (reason) => {
        this.#sessions.drop(server);
        const fields = { group: this.#group, server, reason };
        this.#warnings.warn(fields, "a server was not spoken to: its TLS is not the right one");
      },
    });
  }

  close(): void {
    if (!this.#isClosed) this.#context.free();
    this.#sessions.close();
    this.#isClosed = true;
  }
}
