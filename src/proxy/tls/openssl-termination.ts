import { AlpnSelectors } from "../../platform/linux/openssl/alpn-selectors.ts";
import { loadOpenSsl } from "../../platform/linux/openssl/load-openssl.ts";
import { OpenSslClientCalls } from "../../platform/linux/openssl/openssl-client-calls.ts";
import type { DialTlsConfig } from "../engine-config.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { Entrance } from "../services/entrance.ts";
import { OpenSslCaller } from "./openssl-caller.ts";
import { OpenSslDialer } from "./openssl-dialer.ts";
import type { TlsTools } from "./terminator.ts";
import { TicketRatchet, type TicketSeed } from "./ticket-ratchet.ts";
import { TlsEntrance } from "./tls-entrance.ts";
import type { SecuredListener, TlsCaller, TlsDialer, TlsTermination } from "./tls-termination.ts";

/** TLS through Node's own OpenSSL, on the sockets of a loop that blocks; loaded with the first listener. */
export class OpenSslTermination implements TlsTermination {
  readonly #tickets: TicketRatchet;
  #tools: TlsTools | undefined;
  #client: OpenSslClientCalls | undefined;

  /** @param seed the same for all loops of a process: each resumes the sessions of all */
  constructor(seed: TicketSeed) {
    this.#tickets = new TicketRatchet(seed);
  }

  secure(host: SessionHost, listener: SecuredListener, inner: Entrance): Entrance {
    this.#tools ??= this.#load();
    return new TlsEntrance(host, { tools: this.#tools, listener, inner });
  }

  createCaller(caPem: string): TlsCaller {
    this.#tools ??= this.#load();
    this.#client ??= new OpenSslClientCalls();
    return new OpenSslCaller(this.#tools.calls, this.#client, caPem);
  }

  dialer(host: SessionHost, config: DialTlsConfig, group: string): TlsDialer {
    this.#tools ??= this.#load();
    this.#client ??= new OpenSslClientCalls();
    return new OpenSslDialer(this.#tools, host, { config, group, client: this.#client });
  }

  #load(): TlsTools {
    const calls = loadOpenSsl();
    const selectors = new AlpnSelectors(calls);
    return { calls, selectors, tickets: this.#tickets, nowMs: Date.now };
  }
}
