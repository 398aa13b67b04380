import { writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { CoreError, messageOf } from "../core/errors.ts";
import { callInstance } from "../daemon/instance-socket/client.ts";
import { INSTANCE_OPTIONS } from "../daemon/options.ts";
import { instancePath } from "../daemon/presence.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { resolveFlags } from "./flags.ts";
import { hideSecrets, secretsOf } from "./support/hide-secrets.ts";
import { machineFiles } from "./support/machine-files.ts";
import { type ArchivedFile, writeTar } from "./support/tar.ts";
import { NO_PAINT } from "./text/paint.ts";
import { formatBytes } from "./text/quantities.ts";
import { renderTable } from "./text/render-table.ts";

const { state } = INSTANCE_OPTIONS;

const SUPPORT_OPTIONS = {
  output: {
    kind: "string",
    short: "o",
    placeholder: "FILE",
    help: "the bundle; portolan-support-TIME.tar.gz in this folder when not given",
  },
} as const;

const OWNER_ONLY = 0o600;

export const SUPPORT: CommandSpec = {
  name: "support",
  summary: "write a bundle for a bug report, without secrets",
  description:
    "Versions, limits of the machine, which backends work here and, where an instance runs, its configuration, status, metrics and last log lines. Passwords, tokens and keys are not in it; look into it before you send it.",
  arguments: [],
  optionGroups: [
    { title: "Output", specs: SUPPORT_OPTIONS },
    { title: "Instance", specs: { state } },
  ],
  examples: [
    { help: "of this machine and the instance that runs", command: "support" },
    { help: "of the instance with that folder", command: "support --state /run/lb -o bug.tar.gz" },
  ],
  run: support,
};

async function support(input: CommandInput): Promise<number> {
  const { context } = input;
  const { output, state: folder } = resolveFlags({ ...SUPPORT_OPTIONS, state }, input);
  const now = new Date();
  const name = `portolan-support-${stampOf(now)}`;
  const path = instancePath(folder);
  const secrets = secretsOf(context.environment);
  const files = [
    ...(await machineFiles(context, dirname(path))),
    ...(await instanceFiles(path)),
  ].map((file) => ({ name: file.name, text: hideSecrets(file.text, secrets) }));
  const file = output ?? `${name}.tar.gz`;
  await save(file, await promisify(gzip)(writeTar(name, files, now.getTime())));
  const rows = files.map((one) => [one.name, formatBytes(Buffer.byteLength(one.text))]);
  const table = renderTable([{ title: "FILE" }, { title: "SIZE", isNumber: true }], rows, NO_PAINT);
  context.stdout.write([...table, "", file, ""].join("\n"));
  return EXIT_OK;
}

/** What the instance says of itself, or why it does not. */
async function instanceFiles(path: string): Promise<readonly ArchivedFile[]> {
  try {
    const { files } = await callInstance(path, "support", {});
    return files.map(({ name, text }) => ({ name: `instance/${plainName(name)}`, text }));
  } catch (error) {
    const why = messageOf(error);
    return [{ name: "no-instance.txt", text: `${why}\n` }];
  }
}

/** Nothing that leads out of the folder. */
function plainName(name: string): string {
  return name.replace(/[^\w.-]/g, "_").replace(/^\.+/, "_");
}

/** `20260102-030405`. */
function stampOf(now: Date): string {
  const [day = "", time = ""] = now.toISOString().split("T");
  return `${day.replaceAll("-", "")}-${time.slice(0, 8).replaceAll(":", "")}`;
}

async function save(file: string, bytes: Buffer): Promise<void> {
  try {
    await writeFile(file, bytes, { mode: OWNER_ONLY, flag: "wx" });
  } catch (cause) {
    const why = messageOf(cause);
    throw new CoreError(
      "ERR_USAGE",
      `--output: ${file} can not be written (${why}); expected a new file in a folder that is there`,
      { cause },
    );
  }
}
