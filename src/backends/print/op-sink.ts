import type { Sink, WatchRequest } from "../../core/sinks/sink.ts";
import type { Op } from "../../core/view/ops.ts";

/** Writes all lines of a change at its sync; where that fails, all of them again at the next. */
export function createOpSink(
  request: WatchRequest,
  render: (op: Op) => string,
  print: (text: string) => Promise<void>,
): Sink {
  let lines: string[] = [];
  const flush = async (): Promise<void> => {
    const text = [...lines, render({ op: "sync" }), ""].join("\n");
    await print(text);
    lines = [];
  };
  return {
    setup: () => undefined,
    waitRequest: () => request,
    reset: () => void lines.push(render({ op: "reset" })),
    send: (op) => {
      if (op.op === "sync") return flush();
      lines.push(render(op));
    },
  };
}
