import { CoreError } from "../../core/errors.ts";
import type { CommandInput } from "../command-spec.ts";
import { EXIT_OK } from "../exit-codes.ts";
import { askManager } from "./ask-manager.ts";

/** `manager remove NODE`: with all that was on it. */
export async function removeNode(words: readonly string[], input: CommandInput): Promise<number> {
  const [node, ...rest] = words;
  if (node === undefined || rest.length > 0) {
    throw new CoreError("ERR_USAGE", "expected manager remove NODE, with one node");
  }
  await askManager(input, "RemoveNode", { node });
  return EXIT_OK;
}
