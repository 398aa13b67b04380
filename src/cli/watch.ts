import process from "node:process";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { KIND_WORDS, type KindWord, parseKindWord } from "./desired/kind-words.ts";
import { objectOf, renderWatchItem } from "./desired/render-watch-item.ts";
import { TARGET_GROUPS, withTarget } from "./desired/state-options.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { listenForInterruption } from "./interruption.ts";
import { paintFor } from "./text/paint.ts";

export const WATCH: CommandSpec = {
  name: "watch",
  summary: "follow the objects of the running instance, or of an etcd, as they change",
  description:
    "First those that are there, then each change with its owner. Ctrl-C ends it (exit code 130); where the instance ends, it fails, while an etcd is waited for.",
  arguments: [
    {
      name: "KIND",
      help: "a kind, or the word that commands have for it; all when not given",
      suggestions: KIND_WORDS,
      isOptional: true,
    },
  ],
  optionGroups: [...TARGET_GROUPS, { title: "Output", specs: JSON_OPTION }],
  examples: [
    { help: "everything", command: "watch" },
    { help: "servers, a line of JSON for each change", command: "watch servers --json" },
  ],
  run: watch,
};

async function watch(input: CommandInput): Promise<number> {
  const { context } = input;
  const { json } = resolveFlags(JSON_OPTION, input);
  const [word] = input.args;
  const wanted: KindWord | undefined = word === undefined ? undefined : parseKindWord(word);
  const paint = paintFor(context);
  const interruption = listenForInterruption(process, context.stdout);
  try {
    const params = wanted === undefined ? {} : { kinds: [wanted.kind] };
    await withTarget(input, async (target) => {
      for await (const item of target.watch(params, interruption.signal)) {
        const object = objectOf(item);
        if (object !== undefined && wanted?.suits(object) === false) continue;
        const lines = json ? [JSON.stringify(item)] : renderWatchItem(item, paint);
        context.stdout.write(lines.map((line) => `${line}\n`).join(""));
      }
    });
    return interruption.exitCode();
  } catch (error) {
    if (interruption.signal.aborted) return interruption.exitCode();
    throw error;
  } finally {
    interruption.dispose();
  }
}
