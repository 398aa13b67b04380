import type { Caller } from "../../control/command.ts";
import type {
  CommandParams,
  CommandResult,
  CompleteParams,
  CompleteResult,
} from "../instance-socket/command-protocol.ts";
import { controlOf, type LiveParts } from "./live-parts.ts";

/** Who may open the instance socket is the user that runs it: all of it is the console's. */
export function callerOf(from = "the instance socket"): Caller {
  return { via: "console", from, maySystem: true };
}

export async function runLine(
  live: LiveParts,
  { line, from }: CommandParams,
): Promise<CommandResult> {
  const { control } = controlOf(live);
  return { result: await control.run(control.parse(line), callerOf(from)) };
}

export function completeLine(live: LiveParts, { line }: CompleteParams): CompleteResult {
  return { words: controlOf(live).control.complete(line) };
}
