import { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { groupKeyOf, KINDS, keyOf, type ModelObject } from "../../core/model/object.ts";
import type { ParamInput, ResourceCommand } from "../command.ts";
import { checkCommand } from "../grammar/check-command.ts";
import { formatCommand } from "../grammar/format-command.ts";
import { parseCommand } from "../grammar/parse-command.ts";
import { ParamReader } from "../grammar/read-params.ts";
import { pauseAt } from "../pause.ts";
import { paramsOfDelegate } from "../resources/delegate-params.ts";
import { planOf } from "../resources/desired-resource.ts";
import { Draft, EMPTY_VIEW, type StateView } from "../resources/state-view.ts";
import { desiredOf, RESOURCES } from "../resources/table.ts";
import { CONTROL_OWNER, type RuntimeEntry } from "../world.ts";
import { commandsFor, type ObjectCommands, SECTIONS, type Section } from "./object-commands.ts";
import { formatObjectLine } from "./object-line.ts";
import { CONFIG_LINE_LIMITS } from "./read-config.ts";

type SectionLines = readonly (readonly [Section, string])[];

const HEADER = "# A configuration of Portolan, a command a line; load it with: System: load FILE";

/**
 * All that commands have made, as commands that make it again. Every object is first made from its
 * own lines: where that does not give just the same (labels, say, have no words), it is written out
 * as it is.
 */
export async function renderConfig(
  view: StateView,
  kept: readonly RuntimeEntry[],
): Promise<string> {
  const objects: string[] = [];
  const sections = new Map<Section, string[]>(SECTIONS.map((section) => [section, []]));
  let count = 0;
  for (const object of ownObjects(view)) {
    await pauseAt(count);
    count += 1;
    const lines = linesFor(object, view);
    if (lines === undefined) objects.push(formatObjectLine(object));
    for (const [section, line] of lines ?? []) sections.get(section)?.push(line);
  }
  for (const entry of kept) {
    const [section, command] = commandForEntry(entry);
    sections.get(section)?.push(formatCommand(command));
  }
  return `${[HEADER, ...objects, ...[...sections.values()].flat()].join("\n")}\n`;
}

/** Those of the owner `control`, in order. */
function ownObjects(view: StateView): readonly ModelObject[] {
  return KINDS.flatMap((kind) => {
    const own: [string, ModelObject][] = [];
    for (const object of view.objects(kind)) {
      const key = keyOf(object);
      if (view.ownerOf(kind, key) === CONTROL_OWNER) own.push([key, object]);
    }
    return own.sort(([a], [b]) => (a < b ? -1 : 1)).map(([, object]) => object);
  });
}

/** The lines of the first way to make an object that gives just this one; undefined where none does. */
function linesFor(object: ModelObject, view: StateView): SectionLines | undefined {
  for (const commands of commandsFor(object, view)) {
    const lines = linesOf(object, commands, view);
    if (lines !== undefined) return lines;
  }
  return undefined;
}

/** The lines of an object; undefined where they would not make it again just as it is. */
function linesOf(
  object: ModelObject,
  commands: ObjectCommands,
  view: StateView,
): SectionLines | undefined {
  const lines = commands.map(({ section, command }) => [section, formatCommand(command)] as const);
  const draft = new Draft(EMPTY_VIEW);
  if (object.kind === "Endpoint")
    draft.apply({ set: holdersOf(groupKeyOf(object), view), delete: [] });
  try {
    for (const [, line] of lines) makeAgain(line, draft);
  } catch (error) {
    if (error instanceof CoreError) return undefined;
    throw error;
  }
  return deepEqual(draft.get(object.kind, keyOf(object)), object) ? lines : undefined;
}

/** What a member can be added to, where it is saved too. */
function holdersOf(key: string, view: StateView): readonly ModelObject[] {
  const holders: ModelObject[] = [];
  for (const holder of [view.get("Group", key), view.get("Service", key)]) {
    if (holder !== undefined && view.ownerOf(holder.kind, key) === CONTROL_OWNER)
      holders.push(holder);
  }
  return holders;
}

function makeAgain(line: string, draft: Draft): void {
  const command = parseCommand(line, RESOURCES, CONFIG_LINE_LIMITS);
  const resource = command.kind === "resource" ? desiredOf(command.type) : undefined;
  if (command.kind !== "resource" || resource === undefined) {
    throw new CoreError("ERR_USAGE", `${line}: no command for an object`);
  }
  const { params } = checkCommand(command, RESOURCES);
  draft.apply(
    planOf(resource, {
      command,
      within: command.within,
      params: new ParamReader(command.params, params),
      view: draft,
      loopGroups: undefined,
      options: { isLoading: true },
    }),
  );
}

function commandForEntry(entry: RuntimeEntry): readonly [Section, ResourceCommand] {
  const { kind, name } = entry;
  const base = { kind: "resource", action: "add", name, within: [], params: new Map() } as const;
  switch (kind) {
    case "event-loop-group":
      return [kind, { ...base, type: kind }];
    case "event-loop":
      return [
        kind,
        { ...base, type: kind, within: [{ type: "event-loop-group", name: entry.group }] },
      ];
    case "controller": {
      const { type, address, secretFile } = entry;
      const secretName = type === "resp-controller" ? "password-file" : "token-file";
      const params = new Map<string, ParamInput>([["address", address]]);
      if (secretFile !== "") params.set(secretName, secretFile);
      return [kind, { ...base, type, params }];
    }
    case "smart-group-delegate":
    case "smart-node-delegate":
      return ["delegate", { ...base, type: kind, params: paramsOfDelegate(entry) }];
  }
}
