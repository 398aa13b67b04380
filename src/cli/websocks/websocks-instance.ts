import { USERSPACE_OPTIONS } from "../../backends/userspace/options.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { resolveConfig } from "../../daemon/config.ts";
import { INSTANCE_OPTIONS, LOG_OPTIONS } from "../../daemon/options.ts";
import type { CommandInput, OptionGroup } from "../command-spec.ts";
import { runDaemon } from "../run-daemon.ts";

const { state, metricsListen, healthListen, dryRun, json } = INSTANCE_OPTIONS;
const { nodeportAddresses: _, ...ENGINE } = USERSPACE_OPTIONS;

export const ENGINE_OPTIONS: Omit<typeof USERSPACE_OPTIONS, "nodeportAddresses"> = ENGINE;

/** The options of both ends. */
export const WEBSOCKS_INSTANCE_GROUPS: readonly OptionGroup[] = [
  { title: "Proxy", specs: ENGINE_OPTIONS },
  { title: "This instance", specs: { state, metricsListen, healthListen, dryRun, json } },
  { title: "Logs", specs: LOG_OPTIONS },
];

/** A preset of the daemon: the command line is the source, the userspace proxy the backend. */
export async function runWebsocks(
  { flags, context }: CommandInput,
  owner: string,
  objects: readonly ModelObject[],
): Promise<number> {
  const config = await resolveConfig({
    flags: { ...flags, to: ["userspace"] },
    environment: context.environment,
    hostName: context.hostName,
    sources: [{ kind: "given", owner, objects }],
  });
  return runDaemon(config, context, { endsOnFirstFailure: true });
}
