import type { ModelObject } from "../../core/model/object.ts";
import type { CliContext } from "../command-spec.ts";
import { readState } from "../read-state.ts";

/**
 * The objects of a state file, of a folder of them, or of standard input (`-`); what was left out is noted.
 * @throws CoreError with all that is wrong
 */
export async function readObjects(
  path: string,
  maxFileBytes: number,
  context: CliContext,
): Promise<readonly ModelObject[]> {
  const { objects, skipped } = await readState(path, maxFileBytes, context);
  if (skipped.length > 0) context.stderr.write(`portolan: note: left out: ${skipped.join(", ")}\n`);
  return objects;
}
