import { commitChange } from "../../control/resources/commit-change.ts";
import type { DesiredChange } from "../../control/world.ts";
import { KINDS, type Kind } from "../../core/model/object.ts";
import type { Commit, GlobalStore } from "../../core/store/global-store.ts";
import type {
  ApplyParams,
  ChangesResult,
  DeleteParams,
  GetParams,
  GetResult,
  WatchItem,
  WatchParams,
} from "../instance-socket/state-protocol.ts";
import { callerOf } from "./command-requests.ts";
import { listObjects } from "./list-objects.ts";
import { controlOf, type LiveParts, storeOf } from "./live-parts.ts";
import { Mailbox } from "./mailbox.ts";
import { describeChange, parseObjects, planApply, planDelete } from "./plan-apply.ts";

export function apply(live: LiveParts, params: ApplyParams): Promise<ChangesResult> {
  const objects = parseObjects(params.objects);
  const what = `apply ${objects.length} objects${params.prune ? " and prune" : ""}`;
  return change(live, what, params, (store) => planApply(store, objects, params));
}

export function remove(live: LiveParts, params: DeleteParams): Promise<ChangesResult> {
  const what = `delete ${params.objects.length} objects${params.force === true ? " by force" : ""}`;
  return change(live, what, params, (store) => planDelete(store, params.objects, params));
}

/** Planned in its turn: what came before it may have changed what there is. */
async function change(
  live: LiveParts,
  what: string,
  { dryRun }: { readonly dryRun: boolean },
  plan: (store: GlobalStore) => DesiredChange,
): Promise<ChangesResult> {
  const { world, change: inTurn } = controlOf(live);
  const { store } = world;
  if (dryRun) {
    return { changes: describeChange(store, plan(store)), revision: store.revision };
  }
  return inTurn(what, callerOf(), async () => {
    const planned = plan(store);
    const changes = describeChange(store, planned);
    const note = changes.length > 0 ? await commitChange(world, planned) : "";
    return { changes, revision: store.revision, ...(note !== "" && { note }) };
  });
}

export function get(live: LiveParts, params: GetParams): GetResult {
  const store = storeOf(live);
  return { revision: store.revision, objects: listObjects(store, params) };
}

/** More than so many that nobody has read: it is ended, to be begun again. */
const MAX_WAITING = 100_000;

export function watch(
  live: LiveParts,
  { kinds = KINDS }: WatchParams,
  signal: AbortSignal,
): AsyncIterable<WatchItem> {
  const store = storeOf(live);
  const { revision } = store;
  const present = listObjects(store, { kinds });
  const changes = new Mailbox<WatchItem>({ limit: MAX_WAITING, signal });
  const stop = store.onCommit((commit) => {
    for (const item of itemsOf(commit, kinds)) changes.put(item);
  });
  signal.addEventListener("abort", stop, { once: true });
  return (async function* () {
    for (const owned of present) yield { event: "present", revision, ...owned } as const;
    yield { event: "synced", revision } as const;
    yield* changes;
  })();
}

function itemsOf({ changes, revision }: Commit, kinds: readonly Kind[]): readonly WatchItem[] {
  return changes
    .filter(({ kind }) => kinds.includes(kind))
    .map(({ action, kind, key, owner, before, after }) => ({
      event: "changed",
      action,
      kind,
      key,
      owner,
      revision,
      ...(before && { before }),
      ...(after && { after }),
    }));
}
