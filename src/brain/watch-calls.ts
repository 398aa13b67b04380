import type { Kind } from "../core/model/object.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import { ObjectWatcher } from "../core/view/object-watcher.ts";
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
  /** Told the messages of each change that was sent. */
  readonly onSent: (messages: number) => void;
}

/** A watch of one client; a request that asks for something else begins a new one. */
interface Watch {
  /** Makes the messages of the next change, one at each step. */
  next(signal: AbortSignal): Promise<Iterable<void>>;
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
  const reader = new ProtoReader();
  let current: { readonly wanted: string; readonly watch: Watch } | undefined;
  try {
    for await (const { bytes, start, end } of call.messages()) {
      const request = readWatchRequest(reader.reset(bytes, start, end));
      const wanted = JSON.stringify(request);
      if (current?.wanted !== wanted) {
        current?.watch.close();
        current = { wanted, watch: open(context, request) };
      }
      await sendNext(call, context, current.watch);
    }
  } finally {
    current?.watch.close();
  }
}

/** By itself, so that nothing holds a change any more while the next request is awaited. */
async function sendNext(
  call: GrpcCall,
  { encoder, onSent }: WatchContext,
  watch: Watch,
): Promise<void> {
  onSent(await call.send(await watch.next(call.signal), encoder));
}

function openNodeWatch({ store, encoder }: WatchContext, request: WatchRequestMessage): Watch {
  const { nodeName } = request;
  if (request.extension > 0) {
    const sets = request.sets.flatMap((id) => furtherSetOf(id) ?? []);
    const watcher = new NodeWatcher(store, nodeName, sets);
    return {
      next: async (signal) => nodeFrames(await watcher.nextLazily(signal), encoder),
      close: () => watcher.close(),
    };
  }
  const watcher = new NodeWatcher(store, nodeName, []);
  const view = new OldNodeView();
  return {
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

function openObjectWatch({ store, encoder }: WatchContext, request: WatchRequestMessage): Watch {
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
    next: async (signal) => {
      const change = objectChangeOf(await watcher.next(signal));
      return framesOf(change, encoder);
    },
    close: () => watcher.close(),
  };
}
