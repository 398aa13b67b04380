import { CoreError } from "../../core/errors.ts";
import { resolveEtcdAccess } from "../../daemon/etcd-access.ts";
import { ETCD_OPTIONS, FILE_OPTIONS, INSTANCE_OPTIONS } from "../../daemon/options.ts";
import { instancePath } from "../../daemon/presence.ts";
import { parseEtcdMembers } from "../../daemon/source-spec.ts";
import type { CommandInput, OptionGroup } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";
import type { EtcdStateTarget } from "./etcd-target.ts";
import { instanceTarget, type StateTarget } from "./state-target.ts";

const TARGET = {
  target: {
    kind: "string",
    placeholder: "TARGET",
    default: "instance",
    suggestions: ["instance", "etcd:"],
    help: "what is spoken to: instance (the one that runs) or etcd:HOST:PORT[,HOST:PORT]",
  },
} as const;

/** What is spoken to. */
const TARGET_OPTIONS: typeof TARGET & Pick<typeof INSTANCE_OPTIONS, "state"> = {
  ...TARGET,
  state: INSTANCE_OPTIONS.state,
};

export const TARGET_GROUPS: readonly OptionGroup[] = [
  { title: "Target", specs: TARGET_OPTIONS },
  { title: "etcd (--target etcd:)", specs: ETCD_OPTIONS },
];

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
 * Opens what is spoken to, for as long as `use` takes.
 * @throws CoreError ERR_USAGE, ERR_CONFIG_INVALID
 */
export async function withTarget<T>(
  input: CommandInput,
  use: (target: StateTarget) => Promise<T>,
): Promise<T> {
  const { target: word, state: folder } = resolveFlags(TARGET_OPTIONS, input);
  if (word === "instance") return use(instanceTarget(instancePath(folder)));
  return withEtcd(input, word, use);
}

/**
 * The same where only an etcd will do.
 * @param why what asks for it
 * @throws CoreError ERR_USAGE, ERR_CONFIG_INVALID
 */
export async function withEtcdTarget<T>(
  input: CommandInput,
  why: string,
  use: (target: EtcdStateTarget) => Promise<T>,
): Promise<T> {
  const { target: word } = resolveFlags(TARGET_OPTIONS, input);
  if (word === "instance") {
    throw new CoreError("ERR_USAGE", `${why}: only with --target etcd:HOST:PORT`);
  }
  return withEtcd(input, word, use);
}

async function withEtcd<T>(
  input: CommandInput,
  word: string,
  use: (target: EtcdStateTarget) => Promise<T>,
): Promise<T> {
  const { context } = input;
  const members = /^etcd(?::|$)/.test(word)
    ? parseEtcdMembers(word.slice("etcd:".length))
    : undefined;
  if (members === undefined) {
    throw new CoreError(
      "ERR_USAGE",
      `--target: "${word}" is not valid; expected instance or etcd:HOST:PORT[,HOST:PORT]`,
    );
  }
  const access = await resolveEtcdAccess(resolveFlags(ETCD_OPTIONS, input), context.environment);
  const { openEtcdTarget } = await import("./etcd-target.ts");
  const note = (line: string): void => void context.stderr.write(`portolan: note: ${line}\n`);
  const target = openEtcdTarget({ members, access, note: once(note) });
  try {
    return await use(target);
  } finally {
    target.close();
  }
}

/** What is said again is passed over. */
function once(note: (line: string) => void): (line: string) => void {
  const said = new Set<string>();
  return (line) => {
    if (!said.has(line)) note(line);
    said.add(line);
  };
}

/** @throws CoreError ERR_USAGE where it is not given */
export function requireFile(file: string | undefined): string {
  if (file !== undefined) return file;
  throw new CoreError("ERR_USAGE", "missing; expected -f FILE");
}
