import { type FileHandle, open } from "node:fs/promises";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { FURTHER_SETS } from "../../core/sinks/decoder.ts";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import type { WatchRequest } from "../../core/sinks/sink.ts";
import type { Backend, BackendContext } from "../backend.ts";
import { createOpSink } from "./op-sink.ts";
import type { PRINT_OPTIONS } from "./options.ts";
import { renderBrief } from "./render-brief.ts";
import { renderOp } from "./render-op.ts";
import { renderState } from "./render-state.ts";

const STANDARD_OUTPUT = "-";

export async function createPrintBackend(
  options: ValuesOf<typeof PRINT_OPTIONS>,
  context: BackendContext,
): Promise<Backend> {
  const { format, printOutput } = options;
  const file = printOutput === STANDARD_OUTPUT ? undefined : await openOutput(printOutput);
  let syncs = 0;
  const print = async (text: string): Promise<void> => {
    if (file === undefined) await write(context.stdout, text);
    else await file.appendFile(text);
    syncs += 1;
  };
  const request: WatchRequest = { nodeName: context.nodeName, sets: FURTHER_SETS };
  const sink =
    format === "ops" || format === "brief"
      ? createOpSink(request, format === "ops" ? renderOp : renderBrief, print)
      : createFullStateSink({
          waitRequest: () => request,
          apply: (state) => print(renderState(context.nodeName, state, format)),
        });
  return {
    sink,
    status: () => ({ summary: `printed ${syncs} syncs`, notHonoured: [] }),
    drain: async () => undefined,
    cleanup: async () => undefined,
    close: async () => file?.close(),
  };
}

async function openOutput(path: string): Promise<FileHandle> {
  try {
    return await open(path, "w");
  } catch (cause) {
    const reason = messageOf(cause);
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `print-output: can not write "${path}" (${reason}); expected a file in a folder that can be written`,
      { cause },
    );
  }
}

/** Where nobody reads any more, nothing is left to do: the program is ended by who owns the stream. */
function write(output: NodeJS.WritableStream, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    output.write(text, (error) => (error && !isClosedPipe(error) ? reject(error) : resolve()));
  });
}

function isClosedPipe(error: Error): boolean {
  return "code" in error && error.code === "EPIPE";
}
