import { loadAllBackends } from "../backends/registry.ts";
import { resolveConfig } from "../daemon/config.ts";
import { MANAGER_OPTIONS } from "../daemon/manager/manager-options.ts";
import { CONFIG_OPTION, OPTION_GROUPS, WORDS } from "../daemon/options.ts";
import { backendOptionGroups } from "./backend-option-groups.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { runDaemon } from "./run-daemon.ts";

/** Its options are those of the daemon and those of all backends. */
export async function createRunCommand(): Promise<CommandSpec> {
  const backends = await loadAllBackends();
  return {
    name: "run",
    summary: "bring the state of sources to backends, and keep it there",
    description:
      "Ends cleanly by SIGTERM (exit code 0) or SIGINT (130); a second one ends it at once.",
    arguments: [],
    optionGroups: [
      { title: "Sources and backends", specs: { ...WORDS, ...CONFIG_OPTION } },
      ...OPTION_GROUPS.filter(({ specs }) => specs !== MANAGER_OPTIONS),
      ...backendOptionGroups(backends),
    ],
    examples: [
      {
        help: "print what this node is sent, and follow the file",
        command: "run --from file:state.yaml --to print",
      },
      {
        help: "balance connections on this machine, without root",
        command: "run --from file:state.yaml --to userspace",
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
  const { environment, hostName } = context;
  return runDaemon(await resolveConfig({ flags, environment, hostName }), context);
}
