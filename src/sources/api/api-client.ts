import { type BackoffOptions, backoffMs, DEFAULT_BACKOFF } from "../../core/backoff.ts";
import { CoreError, isRefusal } from "../../core/errors.ts";
import { formatListenAddress, type ListenAddress } from "../../core/options/listen-address.ts";
import {
  DEFAULT_KEEP_ALIVE,
  type KeepAliveOptions,
  keepAlive,
} from "../../platform/http2/keep-alive.ts";
import type { ProtoReader } from "../../wire/protobuf/proto-reader.ts";
import type { SourceReporter } from "../source.ts";
import { type ApiTarget, connectApi } from "./api-target.ts";
import { type ChangeOp, WatchCall, type WatchMethod } from "./watch-call.ts";

/** `address` is read at each connection: it may come to be another one. */
export interface ApiClientOptions extends ApiTarget {
  /** From 0 to 1, without 1. */
  readonly random: () => number;
  /** Rejects where the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly backoff?: BackoffOptions;
  readonly connectTimeoutMs?: number;
  readonly maxMessageBytes?: number;
  readonly keepAlive?: KeepAliveOptions;
}

const DEFAULTS = {
  connectTimeoutMs: 10_000,
  maxMessageBytes: 16_777_216,
} as const;

/** What takes the operations of one change and, at its end, all of them together. */
export interface ChangeTaker<T> {
  /** Forgets what was added since the last commit: the change broke off. */
  begin(): void;
  /** @param reader stands on the bytes that the value of `op` is in */
  add(op: ChangeOp, reader: ProtoReader): void;
  /** Undefined where the change says nothing new. */
  commit(): T | undefined;
}

/**
 * Follows one watch of an API, whatever happens to the connection: it is made again with growing
 * waits, and a change that broke off counts as never sent.
 */
export class ApiClient {
  readonly #options: ApiClientOptions;
  readonly #method: WatchMethod;
  readonly #report: SourceReporter;
  readonly #abort = new AbortController();
  #call: WatchCall | undefined;
  /** Whether a change came by the call. */
  #hasFollowed = false;
  /** Where the call is. */
  #connected: ListenAddress | undefined;
  #failures = 0;

  constructor(options: ApiClientOptions, method: WatchMethod, report: SourceReporter) {
    this.#options = options;
    this.#method = method;
    this.#report = report;
  }

  get signal(): AbortSignal {
    return this.#abort.signal;
  }

  /**
   * The next change that says something new.
   * @param request what is asked for, at the moment of asking
   * @throws CoreError ERR_ABORTED once the client is closed
   */
  async next<T>(request: () => Uint8Array, taker: ChangeTaker<T>): Promise<T> {
    for (;;) {
      if (this.#abort.signal.aborted) throw closed();
      try {
        const change = await this.#attempt(request, taker);
        this.#hasFollowed = true;
        this.#failures = 0;
        this.#report.ok(`follows the API at ${formatListenAddress(this.#options.address)}`);
        if (change !== undefined) return change;
      } catch (error) {
        if (this.#abort.signal.aborted) throw closed();
        // What was shown is over by now, but it may have been renewed: that is shown before anything is told.
        if (this.#hasFollowed && isRefusal(error)) this.#leave();
        else await this.#failed(error);
      }
    }
  }

  /** Asks for something else where an answer is awaited; `next` has to ask for the same from now on. */
  replace(request: Uint8Array): void {
    this.#call?.replace(request);
  }

  /** Leaves a server that is not the one to ask any more: the one of the options is asked from now on. */
  moveOn(): void {
    if (this.#connected !== undefined && this.#connected !== this.#options.address) {
      this.#call?.close();
    }
  }

  close(): void {
    this.#abort.abort();
    this.#call?.close();
    this.#call = undefined;
  }

  async #attempt<T>(request: () => Uint8Array, taker: ChangeTaker<T>): Promise<T | undefined> {
    const call = this.#call ?? (await this.#connect());
    taker.begin();
    await call.change(request(), (op, reader) => taker.add(op, reader));
    return taker.commit();
  }

  async #connect(): Promise<WatchCall> {
    const { connectTimeoutMs, maxMessageBytes } = { ...DEFAULTS, ...this.#options };
    const { address, tls } = this.#options;
    const session = await connectApi({ address, tls }, connectTimeoutMs, this.#abort.signal);
    if (this.#abort.signal.aborted) {
      session.destroy();
      throw closed();
    }
    this.#connected = address;
    this.#call = new WatchCall(session, this.#method, maxMessageBytes);
    keepAlive(session, this.#options.keepAlive ?? DEFAULT_KEEP_ALIVE);
    return this.#call;
  }

  #leave(): void {
    this.#call?.close();
    this.#call = undefined;
    this.#connected = undefined;
    this.#hasFollowed = false;
  }

  async #failed(cause: unknown): Promise<void> {
    this.#leave();
    this.#failures += 1;
    this.#report.failed(
      cause instanceof CoreError
        ? cause
        : new CoreError("ERR_API_PROTOCOL", `the API watch failed: ${String(cause)}`, { cause }),
    );
    const { backoff, random, sleep } = this.#options;
    const waitMs = backoffMs(backoff ?? DEFAULT_BACKOFF, this.#failures, random());
    await sleep(waitMs, this.#abort.signal);
  }
}

function closed(): CoreError {
  return new CoreError("ERR_ABORTED", "the watch was ended");
}
