import { CoreError } from "../core/errors.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { readObjects } from "./desired/read-objects.ts";
import { renderChanges } from "./desired/render-changes.ts";
import { FILE_OPTION, requireFile, TARGET_GROUPS, withTarget } from "./desired/state-options.ts";
import { EXIT_FAILED, EXIT_OK, exitCodeOf } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { paintFor } from "./text/paint.ts";

const DIFF_OPTIONS = {
  prune: { kind: "boolean", help: "also show what `apply --prune` would delete" },
} as const;

/** As of diff(1): it differs. */
const EXIT_DIFFERS = 1;

export const DIFF: CommandSpec = {
  name: "diff",
  summary: "show how a state file differs from what the running instance, or an etcd, has",
  description:
    "Shows what `apply` would change, and changes nothing. The exit code is 0 where nothing differs, 1 where something does, and more where that could not be told.",
  arguments: [],
  optionGroups: [
    { title: "State", specs: { ...FILE_OPTION, ...DIFF_OPTIONS } },
    ...TARGET_GROUPS,
    { title: "Output", specs: JSON_OPTION },
  ],
  examples: [
    { help: "what is not as the file says", command: "diff -f state.yaml" },
    { help: "for a script: is all of it just so?", command: "diff -f state.yaml --prune --json" },
  ],
  run: diff,
};

async function diff(input: CommandInput): Promise<number> {
  try {
    return await compare(input);
  } catch (error) {
    if (exitCodeOf(error) !== EXIT_FAILED || !(error instanceof CoreError)) throw error;
    // 1 means that something differs, and here nobody knows.
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", error.message, { cause: error });
  }
}

async function compare(input: CommandInput): Promise<number> {
  const { context } = input;
  const { file, maxFileBytes, prune } = resolveFlags({ ...FILE_OPTION, ...DIFF_OPTIONS }, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const objects = await readObjects(requireFile(file), maxFileBytes, context);
  const result = await withTarget(input, (target) =>
    target.apply({ objects, prune, dryRun: true }),
  );
  context.stdout.write(
    json ? `${JSON.stringify(result)}\n` : renderChanges(result.changes, paintFor(context)),
  );
  return result.changes.length === 0 ? EXIT_OK : EXIT_DIFFERS;
}
