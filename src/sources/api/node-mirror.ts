import { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { OpBatch } from "../../core/view/op-batch.ts";
import {
  ALL_SETS,
  type DeleteOp,
  type Op,
  RESET,
  type SetName,
  type SetOp,
  SYNC,
} from "../../core/view/ops.ts";
import type { ProtoReader } from "../../wire/protobuf/proto-reader.ts";
import type { ChangeTaker } from "./api-client.ts";
import { type NodeItem, NodeItemReader } from "./node-items.ts";
import { OldServerView } from "./old-server-view.ts";
import type { ChangeOp } from "./watch-call.ts";

type Index = ReadonlyMap<SetName, Map<string, SetOp>>;

/**
 * What the API said last of one node. After a reset it finds out what really changed: nothing that
 * still exists is ever deleted because a connection was made anew.
 */
export class NodeMirror implements ChangeTaker<readonly Op[]> {
  readonly #items = new NodeItemReader();
  readonly #old: OldServerView;
  /** The state as it came; it is indexed when the next change comes, after this one is applied. */
  #whole: readonly (SetOp | DeleteOp)[] | undefined;
  #index: Index | undefined;
  #isReset = false;
  #change: NodeItem[] = [];

  constructor(nodeName: string) {
    this.#old = new OldServerView(nodeName);
  }

  begin(): void {
    this.#isReset = false;
    this.#change = [];
  }

  add(op: ChangeOp, reader: ProtoReader): void {
    if (op.op === "reset") {
      this.#isReset = true;
      this.#change = [];
      return;
    }
    const item = this.#items.read(op, reader);
    if (item !== undefined) this.#change.push(item);
  }

  /** @throws CoreError ERR_API_PROTOCOL where the change can not be applied; the state stays */
  commit(): readonly Op[] | undefined {
    const before = this.#state();
    if (before === undefined && !this.#isReset) {
      throw new CoreError("ERR_API_PROTOCOL", "the first change of the API began without a reset");
    }
    const ops = this.#old.translate(this.#change, this.#isReset);
    this.#change = [];
    checkServices(ops, this.#isReset ? undefined : before?.get("services"));
    if (before === undefined) {
      this.#whole = ops;
      return [RESET, ...ops, SYNC];
    }
    if (this.#isReset) return this.#difference(before, ops);
    const news = apply(before, ops);
    return news.length === 0 ? undefined : [...news, SYNC];
  }

  #state(): Index | undefined {
    if (this.#whole !== undefined) this.#index = indexOf(this.#whole);
    this.#whole = undefined;
    return this.#index;
  }

  #difference(before: Index, ops: readonly (SetOp | DeleteOp)[]): readonly Op[] | undefined {
    const after = indexOf(ops);
    this.#index = after;
    const batch = new OpBatch();
    for (const [set, table] of after) {
      const held = before.get(set);
      for (const [path, op] of table) {
        if (!deepEqual(held?.get(path)?.value, op.value)) batch.set(op);
      }
    }
    for (const [set, table] of before) {
      const kept = after.get(set);
      for (const path of table.keys()) if (kept?.has(path) !== true) batch.delete(set, path);
    }
    return batch.isEmpty ? undefined : batch.ops();
  }
}

/** Changes the index and returns what is new in it. */
function apply(index: Index, ops: readonly (SetOp | DeleteOp)[]): readonly Op[] {
  return ops.filter((op) => {
    const table = index.get(op.set);
    if (op.op === "delete") return table?.delete(op.path) === true;
    if (deepEqual(table?.get(op.path)?.value, op.value)) return false;
    table?.set(op.path, op);
    return true;
  });
}

function indexOf(ops: readonly (SetOp | DeleteOp)[]): Index {
  const index = new Map(ALL_SETS.map((set) => [set, new Map<string, SetOp>()]));
  for (const op of ops) if (op.op === "set") index.get(op.set)?.set(op.path, op);
  return index;
}

/** No endpoint comes without its service: in the change, or there before it. */
function checkServices(
  ops: readonly (SetOp | DeleteOp)[],
  before: ReadonlyMap<string, unknown> | undefined,
): void {
  const services = new Set<string>();
  for (const op of ops) if (op.op === "set" && op.set === "services") services.add(op.path);
  let known: string | undefined;
  for (const op of ops) {
    if (op.op !== "set" || op.set !== "endpoints") continue;
    const { service } = op.value;
    if (service === known) continue;
    known = service;
    if (services.has(service) || before?.has(service) === true) continue;
    throw new CoreError(
      "ERR_API_PROTOCOL",
      `endpoint ${op.path} came from the API without its service ${service}`,
    );
  }
}
