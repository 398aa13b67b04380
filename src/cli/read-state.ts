import { CoreError } from "../core/errors.ts";
import { loadState } from "../sources/file/load-state.ts";
import { parseState } from "../sources/file/parse-state.ts";
import type { LoadedState } from "../sources/file/state-builder.ts";
import type { CliContext } from "./command-spec.ts";

/** Stands for standard input. */
const STANDARD_INPUT = "-";

/**
 * The state of a file, of a folder of them, or of standard input (`-`), read once.
 * @throws CoreError with all that is wrong
 */
export async function readState(
  path: string,
  maxFileBytes: number,
  { stdin }: CliContext,
): Promise<LoadedState> {
  if (path !== STANDARD_INPUT) return loadState(path, { maxFileBytes });
  const chunks: Buffer[] = [];
  let left = maxFileBytes;
  for await (const chunk of stdin ?? []) {
    const bytes = Buffer.from(chunk);
    left -= bytes.length;
    if (left < 0) throw tooLong(maxFileBytes);
    chunks.push(bytes);
  }
  return parseState([{ name: "standard input", bytes: Buffer.concat(chunks) }]);
}

function tooLong(maxBytes: number): CoreError {
  return new CoreError(
    "ERR_STATE_TOO_LARGE",
    `standard input: more than ${maxBytes} bytes; expected less, or a higher --max-file-bytes`,
  );
}
