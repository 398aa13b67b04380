import { deepEqual } from "../../core/model/equal.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { CertificateConfig, ListenerConfig } from "../engine-config.ts";
import { NetworkSet } from "../network-set.ts";
import type { SessionHost } from "../relay/session-host.ts";
import { SecurityGroup } from "../security-group.ts";
import type { Entrance } from "../services/entrance.ts";
import type { CounterRow } from "../stats/counter-row.ts";
import { LimitedWarnings } from "./limited-warnings.ts";
import { Terminator, type TerminatorSettings, type TlsTools } from "./terminator.ts";
import { TlsHandshake } from "./tls-handshake.ts";
import type { SecuredListener } from "./tls-termination.ts";
import { withoutTls } from "./without-tls.ts";

/** The entrance of a listener whose clients speak TLS; behind it is the one for what they say in it. */
export class TlsEntrance implements Entrance {
  readonly #host: SessionHost;
  readonly #tools: TlsTools;
  readonly #inner: Entrance;
  #listener: SecuredListener;
  #terminator: Terminator;
  #proxies: NetworkSet;
  #access: SecurityGroup | undefined;
  readonly #warnings: LimitedWarnings;

  constructor(
    host: SessionHost,
    parts: {
      readonly tools: TlsTools;
      readonly listener: SecuredListener;
      readonly inner: Entrance;
    },
  ) {
    this.#host = host;
    this.#tools = parts.tools;
    this.#inner = parts.inner;
    this.#warnings = new LimitedWarnings(host.log, parts.tools.nowMs);
    this.#listener = parts.listener;
    this.#terminator = new Terminator(parts.tools, settingsOf(parts.listener));
    const { config } = parts.listener;
    this.#proxies = new NetworkSet(config.proxyProtocol.acceptFrom);
    this.#access = config.access && new SecurityGroup(config.access);
  }

  accept(fd: StreamFd): void {
    const { config, row, tls } = this.#listener;
    const from = fd.remoteAddress();
    const port = config.address.family === "unix" ? 0 : config.address.port;
    const access = this.#access;
    new TlsHandshake(this.#host, {
      listener: config.key,
      fd,
      terminator: this.#terminator,
      expectsHeader: from.family !== "unix" && this.#proxies.has(from.ip),
      allows: (ip) => access?.allows(ip, "TCP", port) ?? true,
      done: (stream) => this.#inner.accept(stream),
      failed: (reason, hasBegun) => {
        row.opened();
        row.failed();
        row.closed();
        const fields = { listener: config.key, reason };
        // Where clients are asked who they are, one that is not let in is worth a line.
        if (hasBegun && tls.clientCaPem !== "") this.#warnings.warn(fields, "a client was refused");
        else this.#host.log.debug(fields, "a TLS handshake failed");
      },
    }).start();
  }

  change(
    config: ListenerConfig,
    row: CounterRow,
    certificates: readonly CertificateConfig[],
  ): boolean {
    const { tls } = config;
    if (tls === undefined || config.mode !== this.#listener.config.mode) return false;
    const listener = { config, tls, row, certificates };
    // Made anew only where it differs: sessions that can be resumed are in it.
    const isSame =
      deepEqual(this.#listener.tls, tls) && deepEqual(this.#listener.certificates, certificates);
    const terminator = isSame
      ? this.#terminator
      : new Terminator(this.#tools, settingsOf(listener));
    if (!this.#inner.change(withoutTls(config), row, [])) {
      if (!isSame) terminator.close();
      return false;
    }
    if (!isSame) this.#terminator.close();
    this.#terminator = terminator;
    this.#listener = listener;
    this.#proxies = new NetworkSet(config.proxyProtocol.acceptFrom);
    this.#access = config.access && new SecurityGroup(config.access);
    return true;
  }

  close(): void {
    this.#terminator.close();
    this.#inner.close();
  }
}

function settingsOf({ config, tls, certificates }: SecuredListener): TerminatorSettings {
  return { key: config.key, mode: config.mode, tls, certificates };
}
