import process from "node:process";
import { loadAllBackends } from "../backends/registry.ts";
import { resolveConfig } from "../daemon/config.ts";
import { createDeps } from "../daemon/create-deps.ts";
import { dryRun } from "../daemon/dry-run.ts";
import { listenForEnd } from "../daemon/end-requests.ts";
import { createLogger } from "../daemon/logger.ts";
import { CONFIG_OPTION, OPTION_GROUPS, WORDS } from "../daemon/options.ts";
import { runInstance } from "../daemon/run-instance.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";

/** Its options are those of the daemon and those of all backends. */
export async function createRunCommand(): Promise<CommandSpec> {
  const backends = await loadAllBackends();
  const ofBackends = backends.map(({ name, options }) => ({
    title: `Backend ${name}`,
    specs: options,
  }));
  return {
    name: "run",
    summary: "bring the state of sources to backends, and keep it there",
    description:
      "Ends cleanly by SIGTERM (exit code 0) or SIGINT (130); a second one ends it at once.",
    arguments: [],
    optionGroups: [
      { title: "Sources and backends", specs: { ...WORDS, ...CONFIG_OPTION } },
      ...OPTION_GROUPS,
      ...ofBackends,
    ],
    examples: [
      {
        help: "print what this node is sent, and follow the file",
        command: "run --from file:state.yaml --to print",
      },
      {
        help: "serve the state of a folder to other nodes",
        command: "run --from file:manifests/ --to api --api-listen 0.0.0.0:12090",
      },
      {
        help: "on another node: the state from there, once, as YAML",
        command: "run --from api:10.0.0.1:12090 --to print --format yaml --once",
      },
    ],
    run,
  };
}

async function run({ flags, context }: CommandInput): Promise<number> {
  const { environment, hostName, stdout, stderr } = context;
  const config = await resolveConfig({ flags, environment, hostName });
  const { logLevel: level, logFormat: format } = config.values;
  const log = await createLogger({ level, format, isTerminal: stderr.isTTY === true });
  const deps = createDeps(log, stdout);
  if (config.values.dryRun) {
    stdout.write(await dryRun(config, deps));
    return EXIT_OK;
  }
  const end = listenForEnd({
    signals: process,
    stdout,
    log,
    exit: (code) => process.exit(code),
  });
  try {
    const { exitCode, isClean } = await runInstance(config, deps, end);
    return isClean ? exitCode : process.exit(exitCode);
  } finally {
    end.dispose();
  }
}
