import { describe, KINDS, type Kind, keyOf, type ModelObject } from "../../core/model/object.ts";
import { type EtcdClient, MAX_TXN_COMPARES, MAX_TXN_OPS } from "../../engines/etcd/etcd-client.ts";
import { prefixRange } from "../../engines/etcd/prefix-range.ts";
import type { Compare, WriteOp } from "../../wire/etcd/kv-messages.ts";
import { encodeStored, objectsPrefix, storedKey, writesKey } from "./stored-object.ts";
import type { StoredState } from "./stored-state.ts";

/** What is to be written, on top of a state that was read. */
export interface StoredChange {
  readonly owner: string;
  readonly set: readonly {
    readonly object: ModelObject;
    /** What it is bound to; `keep`: what it is bound to now, if anything. */
    readonly lease: bigint | "keep";
  }[];
  readonly delete: readonly { readonly kind: Kind; readonly key: string }[];
}

export interface WriteOutcome {
  /** What was written, as `describe` calls it; all, unless others were quicker. */
  readonly done: readonly string[];
  readonly revision: number;
  readonly isWhole: boolean;
  /** So many were done. */
  readonly transactions: number;
}

/** etcd refuses requests of more than 1.5 MB. */
const MAX_PART_BYTES = 1_000_000;
/** For the numbers and lengths around a key and its value. */
const OVERHEAD_BYTES = 32;

/**
 * These hold nothing that another object could want, and nothing leads to them by name: many may write them
 * at the same time.
 */
const FREE_KINDS: ReadonlySet<Kind> = new Set(["Endpoint", "Node"]);

/** What others lead to comes before them, and goes after them. */
const WRITE_ORDER: readonly Kind[] = [
  "SecurityGroup",
  "Certificate",
  "Node",
  "Group",
  "Endpoint",
  "Service",
  "Listener",
];

interface Write {
  readonly kind: Kind;
  readonly name: string;
  readonly key: string;
  readonly op: WriteOp;
}

/**
 * Writes a change where what it was planned on is still so. All of it is one transaction, unless it is more than
 * etcd takes: then it is several, one after the other, and it may end after some of them.
 */
export async function writeStored(
  client: EtcdClient,
  prefix: string,
  state: StoredState,
  change: StoredChange,
): Promise<WriteOutcome> {
  const done: string[] = [];
  let transactions = 0;
  let { revision, writesRevision } = state;
  for (const part of partsOf(writesOf(prefix, state, change))) {
    const isFree = part.every(({ kind }) => FREE_KINDS.has(kind));
    const guard = Buffer.from(writesKey(prefix));
    const compares = comparesOf(prefix, { ...state, revision }, part);
    const ops = part.map(({ op }) => op);
    if (!isFree) {
      compares.push({ what: "unchanged", key: guard, modRevision: writesRevision });
      ops.push({ op: "put", key: guard, value: Buffer.from("1"), lease: 0n });
    }
    const { header, succeeded } = await client.transact(compares, ops);
    if (!succeeded) return { done, revision, isWhole: false, transactions };
    transactions += 1;
    done.push(...part.map(({ name }) => name));
    revision = header.revision;
    if (!isFree) writesRevision = revision;
  }
  return { done, revision, isWhole: true, transactions };
}

function writesOf(prefix: string, { rows }: StoredState, change: StoredChange): readonly Write[] {
  const sets = change.set.map(({ object, lease }): Write => {
    const { kind } = object;
    const key = storedKey(prefix, kind, keyOf(object));
    const value = encodeStored({ owner: change.owner, object });
    const bound = lease === "keep" && !rows.has(key) ? 0n : lease;
    const op: WriteOp = { op: "put", key: Buffer.from(key), value, lease: bound };
    return { kind, name: describe(kind, keyOf(object)), key, op };
  });
  const deletes = change.delete.map(({ kind, key: own }): Write => {
    const key = storedKey(prefix, kind, own);
    return { kind, name: describe(kind, own), key, op: { op: "delete", key: Buffer.from(key) } };
  });
  const rank = ({ kind }: Write): number => WRITE_ORDER.indexOf(kind);
  return [...sets.sort((a, b) => rank(a) - rank(b)), ...deletes.sort((a, b) => rank(b) - rank(a))];
}

function partsOf(writes: readonly Write[]): readonly (readonly Write[])[] {
  const parts: Write[][] = [];
  let part: Write[] = [];
  let bytes = 0;
  for (const write of writes) {
    const { op } = write;
    const size = OVERHEAD_BYTES + op.key.length + (op.op === "put" ? op.value.length : 0);
    const isFull = part.length >= MAX_TXN_OPS - 1 || bytes + size > MAX_PART_BYTES;
    if (part.length > 0 && isFull) {
      parts.push(part);
      part = [];
      bytes = 0;
    }
    part.push(write);
    bytes += size;
  }
  return part.length === 0 ? parts : [...parts, part];
}

/** That nothing of the part was changed; where there are too many to name, that nothing of their kinds was put. */
function comparesOf(prefix: string, state: StoredState, part: readonly Write[]): Compare[] {
  if (part.length < MAX_TXN_COMPARES) {
    return part.map(({ key, op }) => ({
      what: "unchanged",
      key: op.key,
      modRevision: state.rows.get(key)?.modRevision ?? 0,
    }));
  }
  return KINDS.filter((kind) => part.some((write) => write.kind === kind)).map((kind) => ({
    what: "none-after",
    ...prefixRange(`${objectsPrefix(prefix)}${kind}/`),
    revision: state.revision,
  }));
}
