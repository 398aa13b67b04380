import { loadAllBackends } from "../backends/registry.ts";
import { resolveConfig } from "../daemon/config.ts";
import { MANAGER_OPTIONS } from "../daemon/manager/manager-options.ts";
import { CONFIG_OPTION, CONTROL_OPTIONS, OPTION_GROUPS, WORDS } from "../daemon/options.ts";
import { backendOptionGroups } from "./backend-option-groups.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { runDaemon } from "./run-daemon.ts";
import { UpConsole } from "./up-console.ts";

/** `run` with commands and a journal. */
export async function createUpCommand(): Promise<CommandSpec> {
  const backends = await loadAllBackends();
  const others = OPTION_GROUPS.filter(
    ({ specs }) => specs !== CONTROL_OPTIONS && specs !== MANAGER_OPTIONS,
  );
  return {
    name: "up",
    summary: "an instance that takes commands, and keeps what they make",
    description:
      "As run, with commands typed (portolan console), by redis-cli and by HTTP; what they make is kept in a journal in the state folder and is there again after a restart. Without --to it is --to userspace; it needs no --from. Secrets are in PORTOLAN_RESP_PASSWORD and PORTOLAN_HTTP_TOKEN, or in files; without one a controller answers on this machine only. See docs/up.md.",
    arguments: [],
    optionGroups: [
      { title: "Sources and backends", specs: { ...WORDS, ...CONFIG_OPTION } },
      { title: "Commands", specs: CONTROL_OPTIONS },
      ...others,
      ...backendOptionGroups(backends),
    ],
    examples: [
      { help: "an instance that commands fill", command: "up" },
      {
        help: "on a terminal, with a prompt",
        command: "up --console",
      },
      {
        help: "with a state file, and a folder of its own",
        command: "up --from file:state.yaml --state /var/lib/portolan",
      },
      {
        help: "commands from other machines, with secrets",
        command:
          "up --resp-listen 0.0.0.0:16309 --resp-password-file /etc/portolan/resp-password --http-listen off",
      },
      {
        help: "a new version in place of the one that runs, without a connection refused",
        command: "up --take-over",
      },
    ],
    run: up,
  };
}

async function up({ flags, context }: CommandInput): Promise<number> {
  const { environment, hostName } = context;
  const config = await resolveConfig({
    flags: withNoLoad(flags),
    environment,
    hostName,
    isControlled: true,
  });
  const console = new UpConsole(config, context);
  return runDaemon(config, context, {
    onUp: (instance) => console.offer(instance),
    isLogShown: () => console.isOpen,
  });
}

/** The parser takes `--no-load` for the opposite of a `--load`. */
function withNoLoad(flags: CommandInput["flags"]): CommandInput["flags"] {
  const { load, ...others } = flags;
  return load === false ? { ...others, noLoad: true } : others;
}
