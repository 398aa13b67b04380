import process from "node:process";
import type { InstanceConfig } from "../daemon/config.ts";
import { createDeps } from "../daemon/create-deps.ts";
import { dryRun } from "../daemon/dry-run.ts";
import { listenForEnd } from "../daemon/end-requests.ts";
import { createLogger } from "../daemon/logger.ts";
import { type RunOptions, runInstance } from "../daemon/run-instance.ts";
import type { CliContext } from "./command-spec.ts";
import { EXIT_OK } from "./exit-codes.ts";

/** The daemon in this process, until it is asked to end. @returns the exit code */
export async function runDaemon(
  config: InstanceConfig,
  { stdout, stderr }: CliContext,
  options: RunOptions = {},
): Promise<number> {
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
    const { exitCode, isClean } = await runInstance(config, deps, end, options);
    return isClean ? exitCode : process.exit(exitCode);
  } finally {
    end.dispose();
  }
}
