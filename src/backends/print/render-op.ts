import type { Op } from "../../core/view/ops.ts";

/** One line: `set services default/web {...}`, `delete endpoints default/web/a`, `sync`, `reset`. */
export function renderOp(op: Op): string {
  switch (op.op) {
    case "set":
      return `set ${op.set} ${op.path} ${JSON.stringify(op.value)}`;
    case "delete":
      return `delete ${op.set} ${op.path}`;
    default:
      return op.op;
  }
}
