import { abortable } from "../abortable.ts";
import { type BackoffOptions, backoffMs, DEFAULT_BACKOFF } from "../backoff.ts";
import { CoreError, messageOf } from "../errors.ts";
import type { Log } from "../log.ts";
import { deepEqual } from "../model/equal.ts";
import type { Reporter } from "../status/status-board.ts";
import { type Op, SYNC } from "../view/ops.ts";
import type { Sink, WatchRequest } from "./sink.ts";

/** Changes of one node, in process (`NodeWatcher`) or from an API. */
export interface OpStream {
  /** The next change where one is there already. */
  poll(): readonly Op[] | undefined;
  /** Waits for it; rejects with ERR_ABORTED. Tells each revision that brings nothing new. */
  next(signal: AbortSignal, onNothingNew: (revision: number) => void): Promise<readonly Op[]>;
  /** What the changes given so far bring the node up to; missing where the stream does not say. */
  readonly revision?: number;
  close(): void;
}

export interface PumpOptions {
  readonly name: string;
  readonly sink: Sink;
  readonly open: (request: WatchRequest) => OpStream | Promise<OpStream>;
  readonly report: Reporter;
  readonly log: Log;
  /** Rejects where the signal ends it. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly random: () => number;
  readonly backoff?: BackoffOptions;
  /** All up to that revision is so, where the stream says revisions. */
  readonly onApplied?: (revision: number) => void;
  /** What brings the node up to that revision could not be applied as a whole. */
  readonly onFailed?: (error: unknown, revision: number) => void;
  /** Settles when somebody can not wait for the end of a back-off; rejects where the signal ends it. */
  readonly hurried?: (signal: AbortSignal) => Promise<void>;
  /** Settles when the state is beyond that revision; rejects where the signal ends it. */
  readonly changed?: (since: number, signal: AbortSignal) => Promise<void>;
}

/** A change is tried so soon after a failure, however often it failed: what was wrong may be over by then. */
const CHANGED_WAIT_MS = 3000;

/**
 * Drives a stream into a sink until the signal ends it. What fails is repeated with back-off: a sync
 * with whatever changed in the meantime, be it nothing; a sink that broke while it was sent
 * operations gets a new stream. Settles once nothing is under way.
 */
export async function pump(options: PumpOptions, signal: AbortSignal): Promise<void> {
  const driver = new Driver(options, signal);
  try {
    await driver.run();
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    driver.close();
  }
}

class Driver {
  readonly #options: PumpOptions;
  readonly #signal: AbortSignal;
  #stream: { readonly request: WatchRequest; readonly ops: OpStream } | undefined;
  #failures = 0;
  /** Of what was taken from the stream last. */
  #revision = 0;

  constructor(options: PumpOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  async run(): Promise<void> {
    await this.#untilDone(async () => this.#options.sink.setup());
    while (!this.#signal.aborted) await this.#untilDone(() => this.#step());
  }

  close(): void {
    this.#stream?.ops.close();
    this.#stream = undefined;
  }

  async #untilDone(act: () => Promise<void>): Promise<void> {
    for (;;) {
      try {
        await act();
        this.#failures = 0;
        return;
      } catch (error) {
        this.#signal.throwIfAborted();
        await this.#failed(error);
      }
    }
  }

  async #step(): Promise<void> {
    const { sink, report, onApplied } = this.#options;
    const request = await abortable(sink.waitRequest(), this.#signal);
    const before = this.#stream?.ops;
    const stream = await this.#streamFor(request);
    const isRepeated = this.#failures > 0 && stream === before;
    const ops = isRepeated
      ? (stream.poll() ?? [SYNC])
      : await stream.next(this.#signal, (revision) => onApplied?.(revision));
    this.#revision = stream.revision ?? 0;
    report.busy();
    await this.#send(ops);
    report.ok("in sync");
    onApplied?.(this.#revision);
  }

  async #streamFor(request: WatchRequest): Promise<OpStream> {
    if (this.#stream !== undefined && !deepEqual(this.#stream.request, request)) this.close();
    this.#stream ??= { request, ops: await this.#options.open(request) };
    return this.#stream.ops;
  }

  /** Only a failed sync leaves the stream as it is: anything else may have lost an operation. */
  async #send(ops: readonly Op[]): Promise<void> {
    const { sink } = this.#options;
    try {
      for (const op of ops) {
        if (op.op === "reset") sink.reset();
        else if (op.op !== "sync") sink.send(op);
      }
    } catch (error) {
      this.close();
      throw error;
    }
    await sink.send(SYNC);
  }

  async #failed(error: unknown): Promise<void> {
    const { name, log, report, random, onFailed } = this.#options;
    if (error instanceof CoreError && error.code === "ERR_SINK_BROKEN") this.close();
    this.#failures += 1;
    const waitMs = backoffMs(this.#options.backoff ?? DEFAULT_BACKOFF, this.#failures, random());
    const message = messageOf(error);
    report.failed(message);
    // What we say ourselves needs no stack: it names what is wrong and where.
    const err = error instanceof CoreError ? {} : { err: error };
    log.error({ sink: name, failures: this.#failures, waitMs, ...err }, `sync failed: ${message}`);
    onFailed?.(error, this.#revision);
    await this.#pause(waitMs);
  }

  async #pause(ms: number): Promise<void> {
    const { sleep, hurried } = this.#options;
    const over = new AbortController();
    const signal = AbortSignal.any([this.#signal, over.signal]);
    const ends = [sleep(ms, signal)];
    if (hurried !== undefined) ends.push(hurried(signal));
    if (this.#revision > 0 && ms > CHANGED_WAIT_MS) ends.push(this.#changed(signal));
    try {
      await Promise.race(ends);
    } finally {
      over.abort();
    }
  }

  /** Never where nobody tells. */
  async #changed(signal: AbortSignal): Promise<void> {
    const { sleep, changed = never } = this.#options;
    await sleep(CHANGED_WAIT_MS, signal);
    await changed(this.#revision, signal);
  }
}

function never(): Promise<void> {
  return new Promise(() => undefined);
}
