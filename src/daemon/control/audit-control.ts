import type { Caller, Command } from "../../control/command.ts";
import type { Control } from "../../control/control.ts";
import { formatCommand } from "../../control/grammar/format-command.ts";
import type { ResourceSpec } from "../../control/resource-spec.ts";
import { CoreError, messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";

const HIDDEN = "(hidden)";
/** These ask, and change nothing. */
const ASKING: ReadonlySet<string> = new Set([
  "list",
  "list-detail",
  "help",
  "version",
  "list config",
  "lookup",
]);

/** The same commands; each that changes something, or was to, leaves a line: who, from where, what came of it. */
export function auditControl(control: Control, log: Log): Control {
  return {
    resources: control.resources,
    parse: (line) => control.parse(line),
    complete: (line) => control.complete(line),
    get revision(): number {
      return control.revision;
    },
    onHealth: (listener) => control.onHealth(listener),
    run: async (command, caller, condition) => {
      if (!isChange(command)) return control.run(command, caller, condition);
      const text = commandText(command, control.resources);
      return audited(log, text, caller, () => control.run(command, caller, condition));
    },
  };
}

/** Carries something out and says so. */
export async function audited<T>(
  log: Log,
  what: string,
  { via, from }: Caller,
  act: () => Promise<T>,
): Promise<T> {
  const audit = { via, from, command: what };
  try {
    const result = await act();
    log.info({ audit: { ...audit, result: "done" } }, `command of ${via}: ${what}`);
    return result;
  } catch (error) {
    const code = error instanceof CoreError ? error.code : "ERR_INSTANCE";
    const message = messageOf(error);
    log.warn(
      { audit: { ...audit, result: code, message } },
      `command of ${via} was refused: ${what}`,
    );
    throw error;
  }
}

function isChange(command: Command): boolean {
  switch (command.kind) {
    case "man":
      return false;
    case "system":
      return !ASKING.has(command.verb);
    case "resource":
      return !ASKING.has(command.action);
  }
}

/** As it would be typed, without what nobody else should read. */
function commandText(command: Command, resources: readonly ResourceSpec[]): string {
  if (command.kind === "system") return ["System:", command.verb, ...command.args].join(" ");
  if (command.kind === "man") return "man";
  const secrets = secretParams(command.type, resources);
  const params = [...command.params].map(
    ([name, value]) => [name, secrets.has(name) ? HIDDEN : value] as const,
  );
  return formatCommand({ ...command, params: new Map(params) });
}

function secretParams(type: string, resources: readonly ResourceSpec[]): ReadonlySet<string> {
  const specs = resources
    .filter(({ name }) => name === type)
    .flatMap(({ scopes }) => scopes)
    .flatMap(({ actions }) => Object.values(actions))
    .flatMap(({ params }) => params);
  const secret = specs.filter((spec) => spec.kind === "text" && spec.secret === true);
  return new Set(secret.map(({ name }) => name));
}
