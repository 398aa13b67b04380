import { isDeepStrictEqual } from "node:util";
import type { Op, SetName, SetOp } from "../../src/core/view/ops.ts";

/** What a node has been sent so far, and what may not be sent to it: it throws on a needless op. */
export class NodeState {
  readonly #values = new Map<string, SetOp["value"]>();

  apply(ops: readonly Op[]): void {
    for (const op of ops) {
      if (op.op === "reset") this.#values.clear();
      else if (op.op === "set") this.#set(`${op.set} ${op.path}`, op.value);
      else if (op.op === "delete" && !this.#values.delete(`${op.set} ${op.path}`)) {
        throw new Error(`${op.set} ${op.path} was deleted and had never been sent`);
      }
    }
  }

  has(set: SetName, path: string): boolean {
    return this.#values.has(`${set} ${path}`);
  }

  /** Throws where this is not just what the other one holds. */
  expectEqual(other: NodeState): void {
    for (const [key, value] of other.#values) {
      if (!isDeepStrictEqual(this.#values.get(key), value))
        throw new Error(`${key} is not as it is`);
    }
    if (this.#values.size !== other.#values.size) {
      throw new Error(`${this.#values.size} items are there, and ${other.#values.size} should be`);
    }
  }

  #set(key: string, value: SetOp["value"]): void {
    if (isDeepStrictEqual(this.#values.get(key), value))
      throw new Error(`${key} was sent unchanged`);
    this.#values.set(key, value);
  }
}

/** Throws unless `ops` is one `set` of that endpoint, and a sync. */
export function expectOnly(ops: readonly Op[] | undefined, path: string): void {
  const [set, sync] = ops ?? [];
  const isRight =
    ops?.length === 2 && set?.op === "set" && set.path === path && sync?.op === "sync";
  if (isRight) return;
  const got = ops?.map((op) => ("path" in op ? `${op.op} ${op.path}` : op.op)).slice(0, 5);
  throw new Error(`expected the item ${path} only, got ${got?.join(", ") ?? "nothing"}`);
}

/** Throws unless `ops` is a whole state with that many services. */
export function expectWhole(ops: readonly Op[] | undefined, services: number): void {
  const count = ops?.filter((op) => op.op === "set" && op.set === "services").length;
  const isWhole = ops?.[0]?.op === "reset" && ops.at(-1)?.op === "sync" && count === services;
  if (!isWhole) throw new Error(`expected a whole state of ${services} services, got ${count}`);
}
