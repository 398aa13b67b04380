import { CoreError } from "../core/errors.ts";
import type { FrameDecoder } from "../wire/grpc/frame-decoder.ts";
import { ProtoReader } from "../wire/protobuf/proto-reader.ts";
import { readWatchRequest, type WatchRequestMessage } from "../wire/sets/watch-request.ts";
import type { GrpcCall } from "./grpc-call.ts";
import type { GrpcMessages } from "./grpc-messages.ts";
import { openNodeWatch, openObjectWatch, type Watch, type WatchSource } from "./open-watch.ts";
import type { StoreWaiters } from "./store-waiters.ts";

/** What the calls of a server share. */
export interface WatchContext extends WatchSource {
  readonly waiters: StoreWaiters;
  /** Told the messages of each change that was sent. */
  readonly onSent: (messages: number) => void;
}

type OpenWatch = (source: WatchSource, request: WatchRequestMessage) => Watch;

/** What a client wants at present. */
interface Wanted {
  /** The request itself: most clients say the same again and again. */
  readonly bytes: Buffer;
  /** All but the interest, as text. */
  readonly what: string;
  readonly hasInterest: boolean;
  readonly watch: Watch;
}

/** Serves `/localv1.Sets/Watch` until the client has no more requests: one request, one change. */
export function serveNodeWatch(call: GrpcCall, context: WatchContext): Promise<void> {
  return new WatchService(call, context, openNodeWatch).done;
}

/** Serves `/globalv1.Sets/Watch` in the same way. */
export function serveObjectWatch(call: GrpcCall, context: WatchContext): Promise<void> {
  return new WatchService(call, context, openObjectWatch).done;
}

/**
 * One call. Nothing in it waits by a promise unless the client does not read: what a change costs is multiplied by
 * the nodes that follow.
 */
class WatchService {
  /** Settles with the call. */
  readonly done: Promise<void>;
  readonly #call: GrpcCall;
  readonly #context: WatchContext;
  readonly #open: OpenWatch;
  readonly #requests: GrpcMessages;
  readonly #goOn = (): void => this.#serve();
  #settle: (error?: unknown) => void = () => undefined;
  #wanted: Wanted | undefined;
  /** Whether a request was taken that has no change yet. */
  #isOwed = false;
  #isSending = false;
  #isOver = false;

  constructor(call: GrpcCall, context: WatchContext, open: OpenWatch) {
    this.#call = call;
    this.#context = context;
    this.#open = open;
    this.done = new Promise((resolve, reject) => {
      this.#settle = (error) => (error === undefined ? resolve() : reject(error));
    });
    const aborted = (): void => this.#end(new CoreError("ERR_ABORTED", "the call was ended"));
    call.signal.addEventListener("abort", aborted, { once: true });
    this.#requests = call.messages(this.#goOn);
    if (call.signal.aborted) aborted();
  }

  /** Goes as far as it can; called whenever there may be more to do. */
  #serve(): void {
    try {
      while (!this.#isOver && !this.#isSending) {
        if (this.#isOwed && this.#sendNext()) continue;
        if (!this.#takeRequest()) return;
      }
    } catch (error) {
      this.#end(error);
    }
  }

  /** False where nothing is new. */
  #sendNext(): boolean {
    const { encoder, onSent, waiters } = this.#context;
    const frames = this.#wanted?.watch.next();
    if (frames === undefined) {
      waiters.add(this.#goOn);
      return false;
    }
    this.#wanted?.watch.assertMayGoOn();
    const sent = this.#call.send(frames, encoder);
    const told = (messages: number): void => {
      this.#isOwed = false;
      this.#isSending = false;
      onSent(messages);
    };
    if (typeof sent === "number") told(sent);
    else {
      this.#isSending = true;
      sent.then(told).then(this.#goOn, (error: unknown) => this.#end(error));
    }
    return true;
  }

  /** False where there is none to take now. One with an interest gives way to the next, and both earn one change. */
  #takeRequest(): boolean {
    if (this.#isOwed && this.#wanted?.hasInterest !== true) return false;
    const message = this.#requests.take();
    if (message === undefined) {
      if (!this.#isOwed && this.#requests.isOver) this.#end();
      return false;
    }
    this.#want(message);
    this.#isOwed = true;
    return true;
  }

  #want({ bytes, start, end }: FrameDecoder): void {
    const before = this.#wanted;
    if (before?.bytes.compare(bytes, start, end) === 0) return;
    const request = readWatchRequest(new ProtoReader().reset(bytes, start, end));
    const { interest, ...rest } = request;
    const hasInterest = interest !== undefined;
    const what = JSON.stringify({ ...rest, hasInterest });
    const isNew = before?.what !== what;
    if (isNew) before?.watch.close();
    const watch = isNew ? this.#open(this.#context, request) : before.watch;
    this.#wanted = { bytes: Buffer.from(bytes.subarray(start, end)), what, hasInterest, watch };
    if (isNew) watch.assertMayGoOn();
    else if (hasInterest) watch.setInterest?.(new Set(interest));
  }

  #end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#requests.close();
    this.#context.waiters.remove(this.#goOn);
    this.#wanted?.watch.close();
    this.#settle(error);
  }
}
