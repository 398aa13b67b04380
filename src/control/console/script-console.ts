import { CoreError } from "../../core/errors.ts";
import type { ConsoleSession } from "./console-session.ts";
import { type RenderOptions, renderFailure, renderResult } from "./render-result.ts";

export interface ScriptOptions {
  readonly session: Pick<ConsoleSession, "run">;
  readonly output: NodeJS.WritableStream;
  /** Where errors go, unless all is JSON. */
  readonly errors: NodeJS.WritableStream;
  readonly json: boolean;
  /** Whether errors name the number of their line. */
  readonly isNumbered: boolean;
}

const EXIT_OK = 0;
const EXIT_FAILED = 1;
const EXIT_USAGE = 2;
const END_WORDS: readonly string[] = ["exit", "quit"];
/** Lines that nothing is sent for. */
const NO_COMMAND = /^(?:#.*)?$/s;

export function isEndWord(line: string): boolean {
  return END_WORDS.includes(line);
}

export function isNoCommand(line: string): boolean {
  return NO_COMMAND.test(line);
}

/**
 * Gives the commands one after the other, up to the last or to `exit`; one that fails holds none up.
 * @returns 0, or 1 where one has failed, or 2 where nothing but words was wrong
 */
export async function runScript(
  lines: AsyncIterable<string> | Iterable<string>,
  options: ScriptOptions,
): Promise<number> {
  const { session, output, errors, json } = options;
  const render: RenderOptions = { json, width: undefined, hasColours: false };
  let exitCode = EXIT_OK;
  let number = 0;
  for await (const raw of lines) {
    number += 1;
    const line = raw.trim();
    if (isNoCommand(line)) continue;
    if (isEndWord(line)) break;
    try {
      await write(output, renderResult(await session.run(line), render));
    } catch (error) {
      const text = renderFailure(error, render);
      if (json) await write(output, text);
      else await write(errors, options.isNumbered ? `line ${number}: ${text}` : text);
      exitCode = worse(exitCode, error);
    }
  }
  return exitCode;
}

function worse(exitCode: number, error: unknown): number {
  const isUsage = error instanceof CoreError && error.code === "ERR_USAGE";
  return isUsage && exitCode !== EXIT_FAILED ? EXIT_USAGE : EXIT_FAILED;
}

/** Not faster than it is read; whoever reads may go. */
async function write(output: NodeJS.WritableStream, text: string): Promise<void> {
  if (output.write(text) || !output.writable) return;
  await new Promise<void>((resolve) => {
    const settle = (): void => {
      for (const event of ENDS) output.off(event, settle);
      resolve();
    };
    for (const event of ENDS) output.on(event, settle);
  });
}

const ENDS = ["drain", "close", "error"] as const;
