import type { Sink, WatchRequest } from "../../core/sinks/sink.ts";
import { renderOp } from "./render-op.ts";

/** Writes all lines of a change at its sync; where that fails, all of them again at the next. */
export function createOpSink(request: WatchRequest, print: (text: string) => Promise<void>): Sink {
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    const text = [...lines, renderOp({ op: "sync" }), ""].join("\n");
    await print(text);
    lines = [];
  };
  return {
    setup: () => undefined,
    waitRequest: () => request,
    reset: () => void lines.push(renderOp({ op: "reset" })),
    send: (op) => {
      if (op.op === "sync") return flush();
      lines.push(renderOp(op));
    },
  };
}
