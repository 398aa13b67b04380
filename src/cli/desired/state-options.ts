import { CoreError } from "../../core/errors.ts";
import { FILE_OPTIONS, INSTANCE_OPTIONS } from "../../daemon/options.ts";
import { instancePath } from "../../daemon/presence.ts";
import type { CommandInput } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";

const TARGET = {
  target: {
    kind: "string",
    placeholder: "TARGET",
    default: "instance",
    suggestions: ["instance"],
    help: "what is spoken to: the instance that runs",
  },
} as const;

/** What is spoken to. */
export const TARGET_OPTIONS: typeof TARGET & Pick<typeof INSTANCE_OPTIONS, "state"> = {
  ...TARGET,
  state: INSTANCE_OPTIONS.state,
};

const FILE = {
  file: {
    kind: "string",
    short: "f",
    placeholder: "FILE",
    help: "a state file in any form, a folder of them, or - for standard input",
  },
} as const;

export const FILE_OPTION: typeof FILE & typeof FILE_OPTIONS = { ...FILE, ...FILE_OPTIONS };

/**
 * Where the target listens.
 * @throws CoreError ERR_USAGE, ERR_NOT_POSSIBLE_HERE
 */
export function resolveTarget(input: CommandInput): string {
  const { target, state: folder } = resolveFlags(TARGET_OPTIONS, input);
  if (target === "instance") return instancePath(folder);
  if (target.startsWith("etcd:")) {
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", `--target: "${target}" comes with its source`);
  }
  throw new CoreError("ERR_USAGE", `--target: "${target}" is not valid; expected instance`);
}

/** @throws CoreError ERR_USAGE where it is not given */
export function requireFile(file: string | undefined): string {
  if (file !== undefined) return file;
  throw new CoreError("ERR_USAGE", "missing; expected -f FILE");
}
