import { createHash } from "node:crypto";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { ListenerMode } from "../../core/model/listener.ts";
import type { AlpnSelectors } from "../../platform/linux/openssl/alpn-selectors.ts";
import type { OpenSslCalls } from "../../platform/linux/openssl/openssl-calls.ts";
import { SslChannel } from "../../platform/linux/openssl/ssl-channel.ts";
import { SslContext } from "../../platform/linux/openssl/ssl-context.ts";
import type { CertificateConfig, TlsConfig } from "../engine-config.ts";
import { CertificateChoice } from "./certificate-choice.ts";
import { certificateNames } from "./certificate-names.ts";
import { PeerGuard } from "./peer-guard.ts";
import type { TicketRatchet } from "./ticket-ratchet.ts";

/** What the terminators of one loop share. */
export interface TlsTools {
  readonly calls: OpenSslCalls;
  readonly selectors: AlpnSelectors;
  readonly tickets: TicketRatchet;
  /** The time of day: keys change with it. */
  readonly nowMs: () => number;
}

export interface TerminatorSettings {
  /** Of the listener. */
  readonly key: string;
  readonly mode: ListenerMode;
  readonly tls: TlsConfig;
  /** Those that `tls` names, in its order. */
  readonly certificates: readonly CertificateConfig[];
}

const ALPN: Readonly<Partial<Record<ListenerMode, readonly string[]>>> = {
  h2: ["h2", "http/1.1"],
  http: ["http/1.1"],
};

/** Begins the TLS of a listener's connections, each with the certificate for the host that it names. */
export class Terminator {
  /** Who of those with a good certificate may come in. */
  readonly guard: PeerGuard;
  /** Whether it takes part in the choice of a protocol. */
  readonly choosesProtocol: boolean;
  readonly #tools: TlsTools;
  readonly #choice: CertificateChoice;
  /** One for each choice of certificates. */
  readonly #contexts: SslContext[];
  #ticketEpoch = -1;
  #handshakes = 0;
  #isClosed = false;

  /** @throws CoreError where a certificate can not be used */
  constructor(tools: TlsTools, { key, mode, tls, certificates }: TerminatorSettings) {
    this.#tools = tools;
    this.guard = new PeerGuard(tls.peers ?? [], tools.nowMs);
    const missing = tls.certificates.filter((wanted) =>
      certificates.every((one) => one.key !== wanted),
    );
    if (missing.length > 0 || certificates.length === 0) {
      const wanted = [...missing, `listener ${key}`].join(", ");
      throw new CoreError(
        "ERR_CONFIG_INVALID",
        `certificate ${wanted}: can not be used: there is none of that name`,
      );
    }
    const alpn = ALPN[mode] ?? [];
    this.choosesProtocol = alpn.length > 0;
    this.#choice = new CertificateChoice(certificates.map(namesOf));
    const sessionContext = sessionContextOf(key, tls, certificates);
    const contexts: SslContext[] = [];
    try {
      for (const choice of this.#choice.choices) {
        const chosen = choice.flatMap((index) => certificates[index] ?? []);
        contexts.push(
          createContext(chosen, key, () => {
            const { clientCaPem } = tls;
            const options = { certificates: chosen, clientCaPem, alpn, sessionContext };
            return new SslContext(tools.calls, tools.selectors, options);
          }),
        );
      }
    } catch (error) {
      for (const context of contexts) context.free();
      throw error;
    }
    this.#contexts = contexts;
  }

  /** A handshake will need it, until `release`. */
  hold(): void {
    this.#handshakes += 1;
  }

  release(): void {
    this.#handshakes -= 1;
    this.#freeWhenDone();
  }

  /** @param serverName of the client's hello: it decides the certificate */
  begin(descriptor: number, serverName: string): SslChannel {
    this.#renewTickets();
    const context = this.#contexts[this.#choice.numberFor(serverName)];
    // There is one for each choice.
    if (context === undefined) throw new CoreError("ERR_NOT_FOUND", "no certificate");
    return new SslChannel(this.#tools.calls, context, descriptor);
  }

  /** Handshakes that hold it go on, and so do connections. */
  close(): void {
    this.#isClosed = true;
    this.#freeWhenDone();
  }

  #freeWhenDone(): void {
    if (!this.#isClosed || this.#handshakes > 0) return;
    for (const context of this.#contexts.splice(0)) context.free();
  }

  #renewTickets(): void {
    const { tickets, nowMs } = this.#tools;
    const now = nowMs();
    const epoch = tickets.epochAt(now);
    if (epoch === this.#ticketEpoch) return;
    this.#ticketEpoch = epoch;
    const key = tickets.keyAt(now);
    for (const context of this.#contexts) context.setTicketKey(key);
  }
}

/**
 * Who was let in by one listener, or with other authorities, is a stranger to this one. And who resumes a session takes
 * the server for whom it was then: it must be the same certificate still.
 */
function sessionContextOf(
  key: string,
  { clientCaPem }: TlsConfig,
  certificates: readonly CertificateConfig[],
): Buffer {
  const shown = certificates.map(({ certPem }) => certPem);
  return createHash("sha256")
    .update(JSON.stringify([key, clientCaPem, shown]))
    .digest();
}

function namesOf({ key, certPem }: CertificateConfig): ReturnType<typeof certificateNames> {
  try {
    return certificateNames(certPem);
  } catch (cause) {
    throw unusable([key], cause);
  }
}

function createContext(
  certificates: readonly CertificateConfig[],
  listener: string,
  create: () => SslContext,
): SslContext {
  try {
    return create();
  } catch (cause) {
    throw unusable([...certificates.map(({ key }) => key), `listener ${listener}`], cause);
  }
}

function unusable(subjects: readonly string[], cause: unknown): CoreError {
  const reason = messageOf(cause);
  const message = `certificate ${subjects.join(", ")}: can not be used: ${reason}`;
  return new CoreError("ERR_CONFIG_INVALID", message, { cause });
}
