import { randomBytes } from "node:crypto";
import { formatHostPort } from "../../core/model/address.ts";
import type { WebsocksUrl } from "../../core/model/websocks.ts";
import type { StreamFd } from "../../net/fd.ts";
import { UpgradeClient } from "../../wire/websocks/upgrade-client.ts";
import { minuteOf, websocksToken } from "../../wire/websocks/websocks-token.ts";
import type { TlsCaller } from "../tls/tls-termination.ts";

const KEY_BYTES = 16;

/** How a server of tunnels is called. */
export class TunnelServer {
  readonly #url: WebsocksUrl;
  readonly #secret: string;
  readonly #caller: TlsCaller | undefined;
  readonly #nowMs: () => number;

  /** @param caller for a server with TLS */
  constructor(
    url: WebsocksUrl,
    secret: string,
    caller: TlsCaller | undefined,
    nowMs: () => number,
  ) {
    this.#url = url;
    this.#secret = secret;
    this.#caller = caller;
    this.#nowMs = nowMs;
  }

  /** A connection to it, as it is spoken on. */
  secure(raw: StreamFd): StreamFd {
    return this.#caller === undefined ? raw : this.#caller.secure(raw, this.#url.host);
  }

  /** Asks for a tunnel, with the token of this minute. */
  upgrade(): UpgradeClient {
    const { host, port, path, user } = this.#url;
    return new UpgradeClient({
      path,
      host: formatHostPort(host, port),
      key: randomBytes(KEY_BYTES).toString("base64"),
      credentials: { user, token: websocksToken(this.#secret, minuteOf(this.#nowMs())) },
    });
  }
}
