import { abortable } from "../../core/abortable.ts";
import type { WatchRequest } from "../../core/sinks/sink.ts";
import type { Op } from "../../core/view/ops.ts";
import { ProtoWriter } from "../../wire/protobuf/proto-writer.ts";
import { SET_ID } from "../../wire/sets/set-id.ts";
import { writeWatchRequest } from "../../wire/sets/watch-request.ts";
import type { SourceReporter } from "../source.ts";
import { ApiClient, type ApiClientOptions } from "./api-client.ts";
import { NodeMirror } from "./node-mirror.ts";

/** The changes of one node's view, from an API; used like a `NodeWatcher`. */
export interface ApiNodeWatcher {
  /** The next change where it is there already. */
  poll(): readonly Op[] | undefined;
  /**
   * Waits for the next change, however often the connection has to be made anew.
   * @throws CoreError ERR_ABORTED when the signal or `close` ends the wait
   */
  next(signal?: AbortSignal): Promise<readonly Op[]>;
  /** From now on these services only; for a watch that began with an interest. */
  setInterest(keys: readonly string[]): void;
  /** Leaves a server that is not at the address of the options any more. */
  moveOn(): void;
  close(): void;
}

/** Watches one node's operations straight from an API, without a store in between. */
export function watchNode(
  options: ApiClientOptions,
  request: WatchRequest,
  report: SourceReporter,
): ApiNodeWatcher {
  return new NodeWatch(options, request, report);
}

class NodeWatch implements ApiNodeWatcher {
  readonly #client: ApiClient;
  readonly #mirror: NodeMirror;
  readonly #wanted: WatchRequest;
  #request: Uint8Array;
  /** The change that was asked for; a request stands until its answer is taken. */
  #coming: Promise<void> | undefined;
  #change: readonly Op[] | undefined;

  constructor(options: ApiClientOptions, request: WatchRequest, report: SourceReporter) {
    this.#client = new ApiClient(options, "/localv1.Sets/Watch", report);
    this.#mirror = new NodeMirror(request.nodeName);
    this.#wanted = request;
    this.#request = encode(request);
  }

  setInterest(interest: readonly string[]): void {
    this.#request = encode({ ...this.#wanted, interest });
    this.#client.replace(this.#request);
  }

  poll(): readonly Op[] | undefined {
    const change = this.#change;
    this.#change = undefined;
    if (change === undefined) this.#ask().catch(() => undefined);
    return change;
  }

  async next(signal?: AbortSignal): Promise<readonly Op[]> {
    for (;;) {
      if (this.#change === undefined) {
        await (signal === undefined ? this.#ask() : abortable(this.#ask(), signal));
      }
      const change = this.#change;
      this.#change = undefined;
      if (change !== undefined) return change;
    }
  }

  moveOn(): void {
    this.#client.moveOn();
  }

  close(): void {
    this.#client.close();
  }

  #ask(): Promise<void> {
    this.#coming ??= this.#fetch().finally(() => {
      this.#coming = undefined;
    });
    return this.#coming;
  }

  async #fetch(): Promise<void> {
    this.#change = await this.#client.next(() => this.#request, this.#mirror);
  }
}

function encode({ nodeName, sets, interest }: WatchRequest): Uint8Array {
  const writer = new ProtoWriter(64);
  const further = sets.filter((set) => set !== "services" && set !== "endpoints");
  writeWatchRequest(
    writer,
    nodeName,
    further.map((set) => SET_ID[set]),
    interest,
  );
  return Uint8Array.from(writer.view());
}
