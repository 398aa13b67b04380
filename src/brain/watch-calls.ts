import type { Kind } from "../core/model/object.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import { ObjectWatcher } from "../core/view/object-watcher.ts";
import type { FrameDecoder } from "../wire/grpc/frame-decoder.ts";
import { ProtoReader } from "../wire/protobuf/proto-reader.ts";
import { furtherKindOf, furtherSetOf } from "../wire/sets/set-id.ts";
import { readWatchRequest, type WatchRequestMessage } from "../wire/sets/watch-request.ts";
import type { FrameEncoder } from "./frame-encoder.ts";
import type { GrpcCall } from "./grpc-call.ts";
import { isEmptyChange, nodeFrames, oldNodeFrames } from "./node-frames.ts";
import { objectChangeOf, objectFrames } from "./object-frames.ts";
import { OldNodeView } from "./old-node-view.ts";
import { OLD_KINDS, oldObjectFrames } from "./old-object-frames.ts";

/** What the calls of a server share. */
export interface WatchContext {
  readonly store: GlobalStore;
  readonly encoder: FrameEncoder;
  /** Refuses who may not follow this node, or not any more; undefined: all of the state. @throws CoreError ERR_UNAUTHORIZED */
  readonly assertMayWatch?: ((nodeName: string | undefined) => void) | undefined;
  /** Told the messages of each change that was sent. */
  readonly onSent: (messages: number) => void;
}

/** A watch of one client; a request that asks for something else begins a new one. */
interface Watch {
  /** Before it begins, and before each change: who could follow for long may be a stranger by now. */
  assertMayGoOn(): void;
  /** Makes the messages of the next change, one at each step. */
  next(signal: AbortSignal): Promise<Iterable<void>>;
  setInterest?(interest: ReadonlySet<string>): void;
  close(): void;
}

type OpenWatch = (context: WatchContext, request: WatchRequestMessage) => Watch;

/** Serves `/localv1.Sets/Watch` until the client has no more requests: one request, one change. */
export function serveNodeWatch(call: GrpcCall, context: WatchContext): Promise<void> {
  return serve(call, context, openNodeWatch);
}

/** Serves `/globalv1.Sets/Watch` in the same way. */
export function serveObjectWatch(call: GrpcCall, context: WatchContext): Promise<void> {
  return serve(call, context, openObjectWatch);
}

async function serve(call: GrpcCall, context: WatchContext, open: OpenWatch): Promise<void> {
  const requests = new Requests(call);
  const wait = new InterruptibleWait(call.signal);
  let current: { readonly wanted: string; readonly watch: Watch } | undefined;
  try {
    for (let request = await requests.take(); request; request = await requests.take()) {
      const { interest, ...rest } = request;
      const wanted = JSON.stringify({ ...rest, isAll: interest === undefined });
      if (current?.wanted !== wanted) {
        current?.watch.close();
        current = { wanted, watch: open(context, request) };
        current.watch.assertMayGoOn();
      } else if (interest !== undefined) current.watch.setInterest?.(new Set(interest));
      const { watch } = current;
      const next =
        interest === undefined ? watch.next(call.signal) : nextUnless(wait, watch, requests);
      await sendNext(call, context, { watch, next });
    }
  } finally {
    current?.watch.close();
  }
}

/** The requests of a client, of which one is read ahead. */
class Requests {
  readonly #messages: AsyncGenerator<FrameDecoder>;
  readonly #reader = new ProtoReader();
  #next: Promise<WatchRequestMessage | undefined> | undefined;

  constructor(call: GrpcCall) {
    this.#messages = call.messages();
  }

  /** Undefined where no more come. */
  take(): Promise<WatchRequestMessage | undefined> {
    const next = this.ahead();
    this.#next = undefined;
    return next;
  }

  /** The one that `take` gives next, as soon as it is there. */
  ahead(): Promise<WatchRequestMessage | undefined> {
    this.#next ??= this.#read();
    return this.#next;
  }

  async #read(): Promise<WatchRequestMessage | undefined> {
    const { done, value } = await this.#messages.next();
    if (done === true) return undefined;
    return readWatchRequest(this.#reader.reset(value.bytes, value.start, value.end));
  }
}

/**
 * By itself, so that nothing holds a change any more while the next request is awaited.
 * @param next undefined where a further request took the place of this one
 */
async function sendNext(
  call: GrpcCall,
  { encoder, onSent }: WatchContext,
  { watch, next }: { readonly watch: Watch; readonly next: Promise<Iterable<void> | undefined> },
): Promise<void> {
  const frames = await next;
  watch.assertMayGoOn();
  if (frames !== undefined) onSent(await call.send(frames, encoder));
}

/** Waits of a call, of which each can be ended before its time; all of them end with the call. */
class InterruptibleWait {
  /** For as many waits as nobody interrupts: to make one takes as long as the rest of a change. */
  #end = new AbortController();

  constructor(call: AbortSignal) {
    const abort = (): void => this.#end.abort(call.reason);
    if (call.aborted) abort();
    else call.addEventListener("abort", abort, { once: true });
  }

  get signal(): AbortSignal {
    return this.#end.signal;
  }

  interrupt(): void {
    const end = this.#end;
    if (end.signal.aborted) return;
    this.#end = new AbortController();
    end.abort();
  }
}

/** Undefined where a further request came first. */
async function nextUnless(
  wait: InterruptibleWait,
  watch: Watch,
  requests: Requests,
): Promise<Iterable<void> | undefined> {
  const { signal } = wait;
  let isReplaced = false;
  let isOver = false;
  const interrupt = (): void => {
    if (!isOver) wait.interrupt();
  };
  const replace = (request: WatchRequestMessage | undefined): void => {
    // The request for the change after this one comes when it is over.
    if (request === undefined || isOver) return;
    isReplaced = true;
    interrupt();
  };
  // What is wrong with it is told when its turn comes.
  requests.ahead().then(replace, interrupt);
  try {
    return await watch.next(signal);
  } catch (error) {
    if (isReplaced && !wait.signal.aborted) return undefined;
    throw error;
  } finally {
    isOver = true;
  }
}

function openNodeWatch(context: WatchContext, request: WatchRequestMessage): Watch {
  const { store, encoder } = context;
  const { nodeName, interest } = request;
  const assertMayGoOn = (): void => context.assertMayWatch?.(nodeName);
  if (request.extension > 0) {
    const sets = request.sets.flatMap((id) => furtherSetOf(id) ?? []);
    const wanted = interest && new Set(interest);
    const watcher = new NodeWatcher(store, nodeName, sets, undefined, wanted);
    return {
      assertMayGoOn,
      setInterest: (keys) => watcher.setInterest(keys),
      next: async (signal) => nodeFrames(await watcher.nextLazily(signal), encoder),
      close: () => watcher.close(),
    };
  }
  const watcher = new NodeWatcher(store, nodeName, []);
  const view = new OldNodeView();
  return {
    assertMayGoOn,
    next: async (signal) => {
      for (;;) {
        const ops = watcher.poll();
        const change = ops && view.plan(ops, store.state(), nodeName);
        if (change !== undefined && !isEmptyChange(change)) return oldNodeFrames(change, encoder);
        await store.changed(signal);
      }
    },
    close: () => watcher.close(),
  };
}

function openObjectWatch(context: WatchContext, request: WatchRequestMessage): Watch {
  const { store, encoder } = context;
  const isOld = request.extension === 0;
  const further = isOld
    ? []
    : request.sets.flatMap((id): Kind[] => {
        const kind = furtherKindOf(id);
        return kind === undefined ? [] : [kind];
      });
  const watcher = new ObjectWatcher(store, [...OLD_KINDS, ...further]);
  const framesOf = isOld ? oldObjectFrames : objectFrames;
  return {
    assertMayGoOn: () => context.assertMayWatch?.(undefined),
    next: async (signal) => {
      const change = objectChangeOf(await watcher.next(signal));
      return framesOf(change, encoder);
    },
    close: () => watcher.close(),
  };
}
