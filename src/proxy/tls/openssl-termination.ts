import { AlpnSelectors } from "../../platform/linux/openssl/alpn-selectors.ts";
import { loadOpenSsl } from "../../platform/linux/openssl/load-openssl.ts";
import type { SessionHost } from "../relay/session-host.ts";
import type { Entrance } from "../services/entrance.ts";
import type { TlsTools } from "./terminator.ts";
import { TicketRatchet, type TicketSeed } from "./ticket-ratchet.ts";
import { TlsEntrance } from "./tls-entrance.ts";
import type { SecuredListener, TlsTermination } from "./tls-termination.ts";

/** TLS through Node's own OpenSSL, on the sockets of a loop that blocks; loaded with the first listener. */
export class OpenSslTermination implements TlsTermination {
  readonly #tickets: TicketRatchet;
  #tools: TlsTools | undefined;

  /** @param seed the same for all loops of a process: each resumes the sessions of all */
  constructor(seed: TicketSeed) {
    this.#tickets = new TicketRatchet(seed);
  }

  secure(host: SessionHost, listener: SecuredListener, inner: Entrance): Entrance {
    this.#tools ??= this.#load();
    return new TlsEntrance(host, { tools: this.#tools, listener, inner });
  }

  #load(): TlsTools {
    const calls = loadOpenSsl();
    const selectors = new AlpnSelectors(calls);
    return { calls, selectors, tickets: this.#tickets, nowMs: Date.now };
  }
}
