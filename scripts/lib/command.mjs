import { spawn, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

/** The folder of the repository. */
export const ROOT = fileURLToPath(new URL("../../", import.meta.url));

/** A step that failed in a way its message explains; the entry scripts print it without a stack. */
export class StepError extends Error {
  /** @param {string} message */
  constructor(message) {
    super(message);
    this.name = "StepError";
  }
}

/**
 * Runs a program in the repository with our own output, never through a shell.
 * @param {string} program
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env] added to the environment
 */
export function run(program, args, env = {}) {
  const result = spawnSync(program, args, {
    cwd: ROOT,
    stdio: ["ignore", "inherit", "inherit"],
    env: { ...process.env, ...env },
  });
  if (result.error) {
    throw new StepError(`${program} could not be started: ${result.error.message}`);
  }
  if (result.status !== 0) {
    const end = result.signal ?? `exit code ${result.status}`;
    throw new StepError(`${[program, ...args].join(" ")} failed (${end})`);
  }
}

/**
 * Runs npm as the npm that runs us does, else the one on the path.
 * @param {readonly string[]} args
 */
export function runNpm(args) {
  const cli = process.env.npm_execpath;
  if (cli?.endsWith(".js")) run(process.execPath, [cli, ...args]);
  else run("npm", args);
}

/**
 * Runs Node and hands signals on, so that a kill of this process leaves none behind.
 * @param {readonly string[]} args
 * @param {NodeJS.ProcessEnv} [env] added to the environment
 * @returns {Promise<number>} the exit code
 */
export function runNode(args, env = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(process.execPath, args, {
      cwd: ROOT,
      stdio: "inherit",
      env: { ...process.env, ...env },
    });
    for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
      process.on(signal, () => child.kill(signal));
    }
    child.on("error", reject);
    child.on("close", (code) => resolve(code ?? 1));
  });
}

/**
 * The body of an entry script: a `StepError` becomes one line and exit code 1.
 * @param {() => void | Promise<void>} body
 */
export async function main(body) {
  try {
    await body();
  } catch (error) {
    if (!(error instanceof StepError)) throw error;
    console.error(error.message);
    process.exitCode = 1;
  }
}
