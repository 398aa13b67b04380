import type { Kind } from "../core/model/object.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import { NodeWatcher } from "../core/view/node-watcher.ts";
import { ObjectWatcher } from "../core/view/object-watcher.ts";
import { furtherKindOf, furtherSetOf } from "../wire/sets/set-id.ts";
import type { WatchRequestMessage } from "../wire/sets/watch-request.ts";
import type { FrameEncoder } from "./frame-encoder.ts";
import { isEmptyChange, nodeFrames, oldNodeFrames } from "./node-frames.ts";
import { objectChangeOf, objectFrames } from "./object-frames.ts";
import { OldNodeView } from "./old-node-view.ts";
import { OLD_KINDS, oldObjectFrames } from "./old-object-frames.ts";

/** What a watch is made from. */
export interface WatchSource {
  readonly store: GlobalStore;
  readonly encoder: FrameEncoder;
  /** Refuses who may not follow this node, or not any more; undefined: all of the state. @throws CoreError ERR_UNAUTHORIZED */
  readonly assertMayWatch?: ((nodeName: string | undefined) => void) | undefined;
}

/** A watch of one client; a request that asks for something else begins a new one. */
export interface Watch {
  /** Before it begins, and before each change: who could follow for long may be a stranger by now. */
  assertMayGoOn(): void;
  /** Makes the messages of the next change, one at each step; undefined where nothing is new. */
  next(): Iterable<void> | undefined;
  setInterest?(interest: ReadonlySet<string>): void;
  close(): void;
}

/** What one node needs. */
export function openNodeWatch(context: WatchSource, request: WatchRequestMessage): Watch {
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
      next: () => {
        const ops = watcher.pollLazily();
        return ops && nodeFrames(ops, encoder);
      },
      close: () => watcher.close(),
    };
  }
  const watcher = new NodeWatcher(store, nodeName, []);
  const view = new OldNodeView();
  return {
    assertMayGoOn,
    next: () => {
      const ops = watcher.poll();
      const change = ops && view.plan(ops, store.state(), nodeName);
      const isNews = change !== undefined && !isEmptyChange(change);
      return isNews ? oldNodeFrames(change, encoder) : undefined;
    },
    close: () => watcher.close(),
  };
}

/** All of the state. */
export function openObjectWatch(context: WatchSource, request: WatchRequestMessage): Watch {
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
    next: () => {
      const ops = watcher.poll();
      return ops && framesOf(objectChangeOf(ops), encoder);
    },
    close: () => watcher.close(),
  };
}
