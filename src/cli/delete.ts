import { CoreError } from "../core/errors.ts";
import { keyOf } from "../core/model/object.ts";
import type { ObjectName } from "../daemon/instance-socket/state-protocol.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { KIND_WORDS, parseKey, parseKindWord } from "./desired/kind-words.ts";
import { readObjects } from "./desired/read-objects.ts";
import { renderChanges } from "./desired/render-changes.ts";
import { FILE_OPTION, TARGET_GROUPS, withTarget } from "./desired/state-options.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { paintFor } from "./text/paint.ts";

const DELETE_OPTIONS = {
  force: {
    kind: "boolean",
    help: "also what others lead to; they lead nowhere until it is there again. In an etcd also what is not understood",
  },
  dryRun: { kind: "boolean", help: "show what would be deleted and delete nothing" },
} as const;

export const DELETE: CommandSpec = {
  name: "delete",
  summary: "delete objects of the running instance, or of an etcd",
  description:
    "All or nothing, by kind and names, or all that a state file names. Only what commands and `apply` made: what another source has is refused, and what others lead to as well. With a group go its endpoints.",
  arguments: [
    {
      name: "KIND",
      help: "a kind, or the word that commands have for it",
      suggestions: KIND_WORDS,
      isOptional: true,
    },
    { name: "NAME", help: "an endpoint is GROUP/NAME", isOptional: true, isRepeated: true },
  ],
  optionGroups: [
    { title: "State", specs: { ...FILE_OPTION, ...DELETE_OPTIONS } },
    ...TARGET_GROUPS,
    { title: "Output", specs: JSON_OPTION },
  ],
  examples: [
    { help: "a server of a group", command: "delete server web/10.0.0.1:80" },
    { help: "two listeners", command: "delete listener web shop/web" },
    { help: "all that a file names", command: "delete -f state.yaml" },
  ],
  run: remove,
};

async function remove(input: CommandInput): Promise<number> {
  const { context } = input;
  const { force, dryRun } = resolveFlags(DELETE_OPTIONS, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const objects = await namedObjects(input);
  const result = await withTarget(input, (target) =>
    target.delete({ objects, dryRun, ...(force && { force }) }),
  );
  context.stdout.write(
    json
      ? `${JSON.stringify({ dryRun, ...result })}\n`
      : renderChanges(result.changes, paintFor(context)),
  );
  if (!json && result.note !== undefined) context.stdout.write(`${result.note}\n`);
  return EXIT_OK;
}

/** @throws CoreError ERR_USAGE, or what is wrong with the file */
async function namedObjects(input: CommandInput): Promise<readonly ObjectName[]> {
  const { file, maxFileBytes } = resolveFlags(FILE_OPTION, input);
  const [word, ...names] = input.args;
  if ((word === undefined) === (file === undefined)) {
    throw new CoreError("ERR_USAGE", "expected KIND and NAME..., or -f FILE");
  }
  if (file !== undefined) {
    const objects = await readObjects(file, maxFileBytes, input.context);
    return objects.map((object) => ({ kind: object.kind, key: keyOf(object) }));
  }
  const { kind } = parseKindWord(word ?? "");
  if (names.length === 0) throw new CoreError("ERR_USAGE", `missing; expected names of a ${kind}`);
  return names.map((name) => ({ kind, key: parseKey(kind, name) }));
}
