import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";

/**
 * Runs one task of a benchmark in a process of its own, where memory and warm-up are its alone, and
 * returns the JSON that it prints.
 * @param before what starts it: `setpriv --pdeathsig TERM`
 * @param limitMs it is ended after that time, which is an error
 */
export function runTask(
  task: URL,
  args: readonly string[],
  before: readonly string[] = [],
  limitMs = 0,
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const name = fileURLToPath(task);
    const [program = "", ...rest] = [...before, process.execPath, "--expose-gc", name, ...args];
    const child = spawn(program, rest, {
      stdio: ["ignore", "pipe", "inherit"],
      timeout: limitMs,
    });
    let output = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      output += text;
    });
    child.on("error", reject);
    child.on("close", (code, signal) => {
      if (code === 0) resolve(JSON.parse(output));
      else reject(new Error(`${name} ${args.join(" ")} ended with ${signal ?? code}`));
    });
  });
}
