import { callInstance } from "../daemon/instance-socket/client.ts";
import type { ChangesResult } from "../daemon/instance-socket/state-protocol.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { readObjects } from "./desired/read-objects.ts";
import { renderChanges, summarize } from "./desired/render-changes.ts";
import {
  FILE_OPTION,
  requireFile,
  resolveTarget,
  TARGET_OPTIONS,
} from "./desired/state-options.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { paintFor } from "./text/paint.ts";

const APPLY_OPTIONS = {
  prune: {
    kind: "boolean",
    help: "also delete what commands and earlier files made and this one does not have",
  },
  dryRun: { kind: "boolean", help: "show what would change and change nothing" },
} as const;

export const APPLY: CommandSpec = {
  name: "apply",
  summary: "make the running instance have what a state file describes",
  description:
    "Shows what changes, then changes it with the fewest changes, all or nothing. What it makes belongs to `control`, as what commands make; what another source has is refused by name.",
  arguments: [],
  optionGroups: [
    { title: "State", specs: { ...FILE_OPTION, ...APPLY_OPTIONS } },
    { title: "Target", specs: TARGET_OPTIONS },
    { title: "Output", specs: JSON_OPTION },
  ],
  examples: [
    { help: "what a file says", command: "apply -f state.yaml" },
    { help: "that and nothing else, from a pipe", command: "apply -f - --prune" },
    { help: "only show it", command: "apply -f manifests/ --dry-run" },
  ],
  run: apply,
};

async function apply(input: CommandInput): Promise<number> {
  const { context } = input;
  const options = resolveFlags({ ...FILE_OPTION, ...APPLY_OPTIONS }, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const path = resolveTarget(input);
  const objects = await readObjects(requireFile(options.file), options.maxFileBytes, context);
  const { prune, dryRun } = options;
  const ask = (isTrial: boolean): Promise<ChangesResult> =>
    callInstance(path, "apply", { objects, prune, dryRun: isTrial });
  if (json) {
    context.stdout.write(`${JSON.stringify({ dryRun, ...(await ask(dryRun)) })}\n`);
    return EXIT_OK;
  }
  const { changes } = await ask(true);
  context.stdout.write(renderChanges(changes, paintFor(context)));
  if (dryRun || changes.length === 0) return EXIT_OK;
  const applied = await ask(false);
  // Others may have changed something in between.
  if (summarize(applied.changes) !== summarize(changes)) {
    context.stdout.write(renderChanges(applied.changes, paintFor(context)));
  }
  context.stdout.write(`applied, revision ${applied.revision}\n`);
  return EXIT_OK;
}
