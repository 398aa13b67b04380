import type { Result } from "../result.ts";

/** Whom a console speaks to: a running instance, in this process or another. */
export interface ConsoleSession {
  /** @throws CoreError */
  run(line: string): Promise<Result>;
  /** What could stand at the end of the line, whole words. */
  complete(line: string): Promise<readonly string[]>;
  /** What happens meanwhile, for people. */
  readonly events?: AsyncIterable<string>;
}
