import process from "node:process";
import { CoreError } from "../core/errors.ts";
import { followInstance } from "../daemon/instance-socket/client.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { KIND_WORDS, type KindWord, parseKindWord } from "./desired/kind-words.ts";
import { objectOf, renderWatchItem } from "./desired/render-watch-item.ts";
import { resolveTarget, TARGET_OPTIONS } from "./desired/state-options.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { listenForInterruption } from "./interruption.ts";
import { paintFor } from "./text/paint.ts";

export const WATCH: CommandSpec = {
  name: "watch",
  summary: "follow the objects of the running instance as they change",
  description:
    "First those that are there, then each change with its owner. Ctrl-C ends it (exit code 130); where the instance ends, it fails.",
  arguments: [
    {
      name: "KIND",
      help: "a kind, or the word that commands have for it; all when not given",
      suggestions: KIND_WORDS,
      isOptional: true,
    },
  ],
  optionGroups: [
    { title: "Target", specs: TARGET_OPTIONS },
    { title: "Output", specs: JSON_OPTION },
  ],
  examples: [
    { help: "everything", command: "watch" },
    { help: "servers, a line of JSON for each change", command: "watch servers --json" },
  ],
  run: watch,
};

async function watch(input: CommandInput): Promise<number> {
  const { context } = input;
  const { json } = resolveFlags(JSON_OPTION, input);
  const path = resolveTarget(input);
  const [word] = input.args;
  const wanted: KindWord | undefined = word === undefined ? undefined : parseKindWord(word);
  const paint = paintFor(context);
  const interruption = listenForInterruption(process, context.stdout);
  try {
    const params = wanted === undefined ? {} : { kinds: [wanted.kind] };
    for await (const item of await followInstance(path, "watch", params, interruption.signal)) {
      const object = objectOf(item);
      if (object !== undefined && wanted?.suits(object) === false) continue;
      const lines = json ? [JSON.stringify(item)] : renderWatchItem(item, paint);
      context.stdout.write(lines.map((line) => `${line}\n`).join(""));
    }
    if (interruption.signal.aborted) return interruption.exitCode();
    throw hasEnded(path, undefined);
  } catch (error) {
    if (interruption.signal.aborted) return interruption.exitCode();
    throw error instanceof CoreError ? error : hasEnded(path, error);
  } finally {
    interruption.dispose();
  }
}

/** It closes what is followed, or the connection breaks. */
function hasEnded(path: string, cause: unknown): CoreError {
  return new CoreError("ERR_INSTANCE", `the instance at ${path} has ended`, { cause });
}
