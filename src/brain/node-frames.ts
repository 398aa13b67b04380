import type { Op, SetOp } from "../core/view/ops.ts";
import { NEITHER, SCOPES } from "../wire/sets/scopes.ts";
import { SET_ID } from "../wire/sets/set-id.ts";
import type { FrameEncoder } from "./frame-encoder.ts";

export type EndpointOp = Extract<SetOp, { set: "endpoints" }>;

/**
 * Makes the messages of a change for a client that knows our fields, one at each step: what is not
 * sent yet costs only the operations.
 */
export function* nodeFrames(ops: Iterable<Op>, encoder: FrameEncoder): Generator<void> {
  for (const op of ops) {
    makeFrame(op, encoder);
    yield;
  }
}

function makeFrame(op: Op, encoder: FrameEncoder): void {
  if (op.op === "reset") encoder.reset();
  else if (op.op === "sync") encoder.sync();
  else if (op.op === "delete") encoder.deletion(SET_ID[op.set], op.path);
  else if (op.set === "endpoints") encoder.nodeEndpoint(op.value, undefined);
  else if (op.set === "services") encoder.nodeService(op.value);
  else encoder.furtherSet(op);
}

/** A change as a client is sent it that knows only the old contract. */
export interface OldNodeChange {
  readonly isReset: boolean;
  readonly serviceSets: readonly Extract<SetOp, { set: "services" }>[];
  readonly endpointSets: readonly EndpointOp[];
  /** Bits of the scopes of each of `endpointSets`. */
  readonly scopeBits: Uint8Array;
  /** Descending. */
  readonly endpointDeletes: readonly string[];
  readonly serviceDeletes: readonly string[];
}

/** Whether an old client has nothing to learn from it; even an empty state begins with a reset. */
export function isEmptyChange(change: OldNodeChange): boolean {
  return (
    !change.isReset &&
    change.serviceSets.length === 0 &&
    change.endpointSets.length === 0 &&
    change.endpointDeletes.length === 0 &&
    change.serviceDeletes.length === 0
  );
}

/**
 * Makes the messages of a change in KPNG's order: service sets, deletes of anonymous endpoints, sets and
 * deletes of named ones, sets of anonymous ones, service deletes.
 */
export function* oldNodeFrames(change: OldNodeChange, encoder: FrameEncoder): Generator<void> {
  if (change.isReset) yield encoder.reset();
  for (const op of change.serviceSets) yield encoder.nodeService(op.value);
  yield* endpointDeletes(change, true, encoder);
  yield* endpointSets(change, false, encoder);
  yield* endpointDeletes(change, false, encoder);
  yield* endpointSets(change, true, encoder);
  for (const path of change.serviceDeletes) yield encoder.deletion(SET_ID.services, path);
  yield encoder.sync();
}

function* endpointSets(
  { endpointSets: ops, scopeBits }: OldNodeChange,
  isAnonymous: boolean,
  encoder: FrameEncoder,
): Generator<void> {
  for (const [index, op] of ops.entries()) {
    if (isAnonymousPath(op.path) !== isAnonymous) continue;
    yield encoder.nodeEndpoint(op.value, SCOPES[(scopeBits[index] ?? 0) & 3] ?? NEITHER);
  }
}

function* endpointDeletes(
  { endpointDeletes: paths }: OldNodeChange,
  isAnonymous: boolean,
  encoder: FrameEncoder,
): Generator<void> {
  for (const path of paths) {
    if (isAnonymousPath(path) === isAnonymous) yield encoder.deletion(SET_ID.endpoints, path);
  }
}

const ANONYMOUS_NAME = /\/[0-9a-f]{16}(?:@[^/]*)?$/;

/**
 * Whether an endpoint has no pod. Told from the path, as an old client has to: it is all that a
 * delete says.
 */
function isAnonymousPath(path: string): boolean {
  return ANONYMOUS_NAME.test(path);
}
