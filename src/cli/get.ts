import { CoreError } from "../core/errors.ts";
import { describe, type Kind, keyOf } from "../core/model/object.ts";
import { nearest } from "../core/model/problems.ts";
import type { OwnedObject } from "../daemon/instance-socket/state-protocol.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { KIND_WORDS, parseKey, parseKindWord } from "./desired/kind-words.ts";
import { renderJson, renderTables, renderYaml } from "./desired/render-objects.ts";
import { TARGET_GROUPS, withTarget } from "./desired/state-options.ts";
import type { StateTarget } from "./desired/state-target.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { resolveFlags } from "./flags.ts";
import { paintFor } from "./text/paint.ts";

const GET_OPTIONS = {
  format: {
    kind: "enum",
    short: "o",
    values: ["table", "yaml", "json"],
    default: "table",
    help: "yaml and json can be applied again",
  },
  owner: {
    kind: "string",
    placeholder: "NAME",
    help: "only what this source has; control: what commands and `apply` made",
  },
} as const;

export const GET: CommandSpec = {
  name: "get",
  summary: "print the objects that the running instance, or an etcd, has",
  arguments: [
    {
      name: "KIND",
      help: "a kind, or the word that commands have for it; all when not given",
      suggestions: KIND_WORDS,
      isOptional: true,
    },
    {
      name: "NAME",
      help: "only these; an endpoint is GROUP/NAME",
      isOptional: true,
      isRepeated: true,
    },
  ],
  optionGroups: [{ title: "Output", specs: GET_OPTIONS }, ...TARGET_GROUPS],
  examples: [
    { help: "everything", command: "get" },
    { help: "the servers of all groups", command: "get servers" },
    { help: "one service, in full", command: "get service shop/web -o yaml" },
    {
      help: "all that commands made, to apply it elsewhere",
      command: "get --owner control -o yaml",
    },
  ],
  run: get,
};

async function get(input: CommandInput): Promise<number> {
  const { context } = input;
  const { format, owner } = resolveFlags(GET_OPTIONS, input);
  const [word, ...names] = input.args;
  const found = await withTarget(input, (target) =>
    word === undefined ? ask(target, {}) : getKind(target, word, names),
  );
  const objects = found.filter((one) => owner === undefined || one.owner === owner);
  const paint = paintFor(context);
  switch (format) {
    case "table":
      context.stdout.write(renderTables(objects, paint));
      if (objects.length === 0) context.stderr.write("portolan: note: there are none\n");
      break;
    case "yaml":
      context.stdout.write(renderYaml(objects));
      break;
    case "json":
      context.stdout.write(renderJson(objects));
  }
  return EXIT_OK;
}

async function getKind(
  target: StateTarget,
  word: string,
  names: readonly string[],
): Promise<readonly OwnedObject[]> {
  const { kind, suits } = parseKindWord(word);
  const keys = names.map((name) => parseKey(kind, name));
  const there = (await ask(target, { kinds: [kind] })).filter(({ object }) => suits(object));
  if (keys.length === 0) return there;
  const byKey = new Map(there.map((one) => [keyOf(one.object), one]));
  return [...new Set(keys)].map((key) => {
    const one = byKey.get(key);
    if (one === undefined) throw notThere(kind, key, [...byKey.keys()]);
    return one;
  });
}

async function ask(
  target: StateTarget,
  params: { readonly kinds?: readonly Kind[] },
): Promise<readonly OwnedObject[]> {
  return (await target.get(params)).objects;
}

function notThere(kind: Kind, key: string, known: readonly string[]): CoreError {
  const near = nearest(key, known);
  const hint = near === undefined ? "" : `; did you mean ${near}?`;
  return new CoreError("ERR_NOT_FOUND", `${describe(kind, key)} is not there${hint}`);
}
