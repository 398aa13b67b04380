import type { ClientHttp2Session } from "node:http2";
import { backoffMs } from "../../core/backoff.ts";
import type { CoreError } from "../../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import { connectHttp2, type Http2ClientTls } from "../../platform/http2/connect-http2.ts";
import { keepAlive } from "../../platform/http2/keep-alive.ts";
import type { EtcdLimits } from "./etcd-options.ts";
import { isOverdue } from "./or-overdue.ts";

const WORDS = { what: "etcd", code: "ERR_ETCD_UNREACHABLE" } as const;

/** One member, with one connection that is made when it is needed and shared by all calls. */
export class Member {
  readonly name: string;
  readonly #address: ListenAddress;
  readonly #tls: Http2ClientTls | undefined;
  readonly #limits: EtcdLimits;
  #session: Promise<ClientHttp2Session> | undefined;
  #connected: ClientHttp2Session | undefined;
  /** What goes on for long; only then the member is asked whether it is there. */
  #streams = 0;
  #failures = 0;
  #freeAtMs = 0;
  #lastError: CoreError | undefined;

  constructor(address: ListenAddress, tls: Http2ClientTls | undefined, limits: EtcdLimits) {
    this.name = formatListenAddress(address);
    this.#address = address;
    this.#tls = tls;
    this.#limits = limits;
  }

  /** When it may be asked again after it failed. */
  get freeAtMs(): number {
    return this.#freeAtMs;
  }

  get lastError(): CoreError | undefined {
    return this.#lastError;
  }

  connect(): Promise<ClientHttp2Session> {
    this.#session ??= this.#open();
    return this.#session;
  }

  streamOpened(): void {
    this.#streams += 1;
  }

  streamClosed(): void {
    this.#streams -= 1;
  }

  worked(): void {
    this.#failures = 0;
    this.#freeAtMs = 0;
    this.#lastError = undefined;
  }

  /** Its connection is given up: one that does not answer may never do so. */
  failed(error: CoreError, nowMs: number, random: number): void {
    this.#failures += 1;
    if (this.#lastError === undefined || !isOverdue(error)) this.#lastError = error;
    this.#freeAtMs = nowMs + backoffMs(this.#limits.backoff, this.#failures, random);
    this.disconnect();
  }

  disconnect(): void {
    const session = this.#session;
    this.#session = undefined;
    session?.then(
      (open) => open.destroy(),
      () => undefined,
    );
  }

  async #open(): Promise<ClientHttp2Session> {
    const { connectTimeoutMs, pingIntervalMs, pingTimeoutMs } = this.#limits;
    const target = { address: this.#address, tls: this.#tls };
    const opening = connectHttp2(target, WORDS, connectTimeoutMs);
    const session = await opening.catch((error: unknown) => {
      this.#session = undefined;
      throw error;
    });
    keepAlive(session, {
      intervalMs: pingIntervalMs,
      timeoutMs: pingTimeoutMs,
      isWanted: () => this.#streams > 0,
    });
    const forget = (): void => {
      if (this.#connected === session) this.#session = undefined;
    };
    this.#connected = session;
    session.once("close", forget);
    session.once("goaway", forget);
    return session;
  }
}
