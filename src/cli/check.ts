import { CoreError } from "../core/errors.ts";
import { KINDS, type Kind, type ModelObject } from "../core/model/object.ts";
import { FILE_OPTIONS } from "../daemon/options.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK, exitCodeOf } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { loadStore } from "./load-store.ts";

export const CHECK: CommandSpec = {
  name: "check",
  summary: "validate a state file, or a folder of them",
  description:
    "Says everything that is wrong, each with file, line and field. Reads all forms that file: reads.",
  arguments: [
    {
      name: "FILE",
      help: "a state file, a folder of *.yaml, *.yml and *.json files, or - for standard input",
    },
  ],
  optionGroups: [
    { title: "Output", specs: JSON_OPTION },
    { title: "State files", specs: FILE_OPTIONS },
  ],
  examples: [
    { help: "a file", command: "check state.yaml" },
    { help: "what another command writes", command: "check -" },
    { help: "all files of a folder, for a script", command: "check --json manifests/" },
  ],
  run: check,
};

async function check(input: CommandInput): Promise<number> {
  const { stdout, stderr } = input.context;
  const [path = ""] = input.args;
  const { maxFileBytes } = resolveFlags(FILE_OPTIONS, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  try {
    const { objects, skipped } = await loadStore(path, maxFileBytes, input.context);
    const counts = countKinds(objects);
    if (json) stdout.write(`${JSON.stringify({ ok: true, file: path, counts, skipped })}\n`);
    else {
      stdout.write(`${path}: ok: ${describeCounts(counts)}\n`);
      if (skipped.length > 0) stderr.write(`${path}: left out: ${skipped.join(", ")}\n`);
    }
    return EXIT_OK;
  } catch (error) {
    if (!json || !(error instanceof CoreError)) throw error;
    const { code, message, problems } = error;
    stdout.write(`${JSON.stringify({ ok: false, file: path, code, message, problems })}\n`);
    return exitCodeOf(error);
  }
}

function countKinds(objects: readonly ModelObject[]): Partial<Record<Kind, number>> {
  const counts: Partial<Record<Kind, number>> = {};
  for (const { kind } of objects) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

/** `2 Service, 5 Endpoint`, in the order of the kinds. */
function describeCounts(counts: Partial<Record<Kind, number>>): string {
  const parts = KINDS.filter((kind) => counts[kind] !== undefined).map(
    (kind) => `${counts[kind]} ${kind}`,
  );
  return parts.length === 0 ? "no objects" : parts.join(", ");
}
