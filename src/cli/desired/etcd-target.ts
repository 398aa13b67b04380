import { setTimeout as delay } from "node:timers/promises";
import { CONTROL_OWNER, type DesiredChange } from "../../control/world.ts";
import { backoffMs } from "../../core/backoff.ts";
import { CoreError } from "../../core/errors.ts";
import { describe, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { ListenAddress } from "../../core/options/listen-address.ts";
import type { EtcdAccess } from "../../daemon/etcd-access.ts";
import type {
  ChangedObject,
  ChangesResult,
  DeleteParams,
  ObjectName,
} from "../../daemon/instance-socket/state-protocol.ts";
import { listObjects } from "../../daemon/requests/list-objects.ts";
import { describeChange, planApply, planDelete } from "../../daemon/requests/plan-apply.ts";
import { EtcdClient } from "../../engines/etcd/etcd-client.ts";
import { normalizePrefix, storedKey } from "../../sources/etcd/stored-object.ts";
import { loadStored, type StoredState } from "../../sources/etcd/stored-state.ts";
import { type StoredChange, writeStored } from "../../sources/etcd/write-stored.ts";
import type { StateTarget } from "./state-target.ts";
import { watchStored } from "./watch-stored.ts";

export interface EtcdTargetOptions {
  readonly members: readonly ListenAddress[];
  readonly access: EtcdAccess;
  /** For people: what is not as it should be, and does not keep from going on. */
  readonly note: (line: string) => void;
}

export interface EtcdStateTarget extends StateTarget {
  readonly client: EtcdClient;
  /** As `apply`, with endpoints and nodes bound to a lease. */
  applyLeased(objects: readonly ModelObject[], lease: bigint): Promise<ChangesResult>;
}

/** Others may be quicker so often. */
const MAX_ATTEMPTS = 30;
const RETRY = { firstMs: 10, maxMs: 1000 };

/** A change as it is planned on a state. */
interface Planned {
  readonly changes: readonly ChangedObject[];
  readonly change: StoredChange;
}

/** What lives and dies with a process; the rest is of all, and stays. */
function isMortal({ kind }: ModelObject): boolean {
  return kind === "Endpoint" || kind === "Node";
}

/** The objects below a prefix of an etcd. A change is planned on what is there, and made only if that is still so. */
export function openEtcdTarget({ members, access, note }: EtcdTargetOptions): EtcdStateTarget {
  const client = new EtcdClient({
    members,
    ...access,
    random: Math.random,
    sleep: async (ms, signal) => {
      await delay(ms, undefined, { signal });
    },
  });
  const prefix = normalizePrefix(access.prefix);
  const load = async (): Promise<StoredState> => {
    const state = await loadStored(client, prefix, access);
    for (const problem of state.problems) note(`left out: ${problem}`);
    return state;
  };
  const change = (
    { dryRun }: { readonly dryRun: boolean },
    plan: (state: StoredState) => Planned,
  ): Promise<ChangesResult> => changeStored({ client, prefix, load, dryRun, plan, note });
  const unbound = (state: StoredState, desired: DesiredChange): Planned => ({
    changes: describeChange(state.store, desired),
    change: {
      owner: CONTROL_OWNER,
      set: desired.set.map((object) => ({ object, lease: "keep" })),
      delete: desired.delete,
    },
  });
  return {
    client,
    apply: (params) =>
      change(params, (state) => unbound(state, planApply(state.store, params.objects, params))),
    delete: (params) =>
      change(params, (state) => unbound(state, planDeleteStored(prefix, state, params))),
    get: async (params) => {
      const { store, revision } = await load();
      return { revision, objects: listObjects(store, params) };
    },
    watch: (params, signal) => watchStored({ client, prefix, access, note }, params, signal),
    applyLeased: (objects, lease) =>
      change({ dryRun: false }, (state) => planLeased(prefix, state, objects, lease)),
    close: () => client.close(),
  };
}

/**
 * As an instance deletes; with force also what is not understood, which only its key names.
 * @throws CoreError ERR_STATE_INVALID, and as `planDelete` does
 */
function planDeleteStored(
  prefix: string,
  { store, notUnderstood }: StoredState,
  { objects, force = false }: DeleteParams,
): DesiredChange {
  const isBad = ({ kind, key }: ObjectName): boolean =>
    notUnderstood.has(storedKey(prefix, kind, key));
  const bad = objects.filter(isBad);
  if (bad.length > 0 && !force) {
    const names = bad.map(({ kind, key }) => describe(kind, key)).join(", ");
    throw new CoreError(
      "ERR_STATE_INVALID",
      `not understood, so nobody can say what leads to it: ${names}; expected --force to delete it all the same`,
    );
  }
  const good = objects.filter((name) => !isBad(name));
  const planned = planDelete(store, good, { force });
  return { ...planned, delete: [...planned.delete, ...bad] };
}

/** Also what is so already has to be bound. */
function planLeased(
  prefix: string,
  state: StoredState,
  objects: readonly ModelObject[],
  lease: bigint,
): Planned {
  const desired = planApply(state.store, objects, { prune: false });
  const differing = new Set(desired.set.map((object) => describe(object.kind, keyOf(object))));
  const isOurs = (object: ModelObject): boolean =>
    state.rows.get(storedKey(prefix, object.kind, keyOf(object)))?.lease === lease;
  const set = objects.filter(
    (object) =>
      differing.has(describe(object.kind, keyOf(object))) || (isMortal(object) && !isOurs(object)),
  );
  return {
    changes: describeChange(state.store, { set, delete: [] }),
    change: {
      owner: CONTROL_OWNER,
      set: set.map((object) => ({ object, lease: isMortal(object) ? lease : "keep" })),
      delete: [],
    },
  };
}

interface ChangeParts {
  readonly client: EtcdClient;
  readonly prefix: string;
  readonly load: () => Promise<StoredState>;
  readonly dryRun: boolean;
  readonly plan: (state: StoredState) => Planned;
  readonly note: (line: string) => void;
}

/** @throws CoreError what the plan is refused for; ERR_CHANGED_MEANWHILE */
async function changeStored(parts: ChangeParts): Promise<ChangesResult> {
  const { client, prefix, load, dryRun, plan, note } = parts;
  const done: ChangedObject[] = [];
  let transactions = 0;
  let tried: readonly ChangedObject[] = [];
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const state = await load();
    const { changes, change } = plan(state);
    assertFits(state, change);
    if (dryRun) return { changes, revision: state.revision };
    // What was tried and is so now was done, though its answer was lost; or another did just the same.
    if (changes.length === 0) return { changes: [...done, ...tried], revision: state.revision };
    const outcome = await writeStored(client, prefix, state, change);
    transactions += outcome.transactions;
    if (outcome.isWhole) {
      if (transactions > 1) note(inParts(transactions));
      return { changes: [...done, ...changes], revision: outcome.revision };
    }
    const written = new Set(outcome.done);
    const isWritten = ({ kind, key }: ChangedObject): boolean => written.has(describe(kind, key));
    done.push(...changes.filter(isWritten));
    tried = changes.filter((one) => !isWritten(one));
    await client.sleep(backoffMs(RETRY, attempt, client.random()));
  }
  throw new CoreError(
    "ERR_CHANGED_MEANWHILE",
    `others changed what is to be changed ${MAX_ATTEMPTS} times in a row; try again`,
  );
}

function inParts(transactions: number): string {
  return `written in ${transactions} transactions, since it is more than etcd takes in one: whoever follows it saw the steps in between`;
}

/** @throws CoreError ERR_KEY_TAKEN, ERR_ADDRESS_TAKEN */
function assertFits({ store }: StoredState, { owner, set, delete: gone }: StoredChange): void {
  store.transact(owner, (transaction) => {
    for (const { kind, key } of gone) transaction.delete(kind, key);
    for (const { object } of set) transaction.set(object);
  });
}
