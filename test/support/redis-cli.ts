import { type ChildProcess, spawn } from "node:child_process";

const PROGRAM = "redis-cli";

export interface RedisCliOptions {
  readonly stdin?: string;
  readonly password?: string;
}

/** All that the real `redis-cli` prints. */
export async function redisCli(
  port: number,
  args: readonly string[],
  { stdin = "", password }: RedisCliOptions = {},
): Promise<string> {
  const child: ChildProcess = spawn(PROGRAM, ["-p", String(port), ...args], {
    env: { ...process.env, ...(password !== undefined && { REDISCLI_AUTH: password }) },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding("utf8").on("data", (part) => {
      text += String(part);
    });
  }
  // One that ends before it read all is no fault of the writer.
  child.stdin?.on("error", () => undefined).end(stdin);
  await new Promise<void>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve());
  });
  return text;
}
