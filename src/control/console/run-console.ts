import process from "node:process";
import { createInterface } from "node:readline";
import type { ConsoleSession } from "./console-session.ts";
import { runScript } from "./script-console.ts";
import { runTerminal } from "./terminal-console.ts";

export interface ConsoleOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream & { readonly columns?: number };
  /** Where errors go that are not for a terminal; standard error when not given. */
  readonly errors?: NodeJS.WritableStream;
  /** Whether a person types, and reads what is printed. */
  readonly isTerminal: boolean;
  /** On a terminal; when not given: unless `NO_COLOR` asks for none (no-color.org). */
  readonly hasColours?: boolean;
  readonly session: ConsoleSession;
  /** One JSON value a line. */
  readonly json: boolean;
  /** Where what was typed is remembered; when not given: nowhere. */
  readonly historyFile?: string;
  /** Ends it, as the end of the input does. */
  readonly signal?: AbortSignal;
}

/**
 * Commands, typed or from a pipe, up to the end of the input or `exit`.
 * @returns the exit code: of a pipe 0, or 1 where a command has failed, or 2 where its words were wrong
 */
export async function runConsole(options: ConsoleOptions): Promise<number> {
  const { input, output, session, json, isTerminal, historyFile, signal } = options;
  if (isTerminal) {
    const hasColours = options.hasColours ?? wantsColours(process.env);
    return runTerminal({ input, output, session, json, hasColours, historyFile, signal });
  }
  const errors = options.errors ?? process.stderr;
  const lines = createInterface({ input, signal, crlfDelay: Number.POSITIVE_INFINITY });
  return runScript(lines, { session, output, errors, json, isNumbered: true });
}

function wantsColours({ NO_COLOR: none = "", TERM: terminal }: NodeJS.ProcessEnv): boolean {
  return none === "" && terminal !== "dumb";
}
