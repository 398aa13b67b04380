import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { closeSync } from "node:fs";
import { CoreError, type ErrorCode } from "../../core/errors.ts";
import { spoolText } from "./spooled-text.ts";

export interface ExecOptions {
  /**
   * What the program reads from its standard input; nothing by default. Pieces are asked for as it reads
   * them; where one can not be had the program is killed, and the error is that of the piece.
   */
  readonly stdin?: string | Iterable<string>;
  /** It is killed after that. Default: `DEFAULT_TIMEOUT_MS`. */
  readonly timeoutMs?: number;
  /** More than that of either output is an error. Default: `DEFAULT_MAX_OUTPUT_BYTES`. */
  readonly maxOutputBytes?: number;
  /** In place of the environment of this process, plus `LC_ALL=C`: messages are read by programs. */
  readonly env?: Readonly<Record<string, string>>;
}

/** All that a program is to read. */
export function stdinText(stdin: ExecOptions["stdin"] = ""): string {
  return typeof stdin === "string" ? stdin : [...stdin].join("");
}

/** What a program that ran to its end left. */
export interface ExecResult {
  readonly exitCode: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs programs; a fake one is passed in tests. */
export interface Exec {
  /**
   * Runs one and waits for its end. No shell is involved: each argument arrives as it is. An exit code
   * other than 0 is a result, not an error.
   * @throws CoreError ERR_NOT_POSSIBLE_HERE where there is no such program, ERR_PROGRAM_FAILED where it
   *   was killed, took too long or printed too much
   */
  run(program: string, args: readonly string[], options?: ExecOptions): Promise<ExecResult>;
}

const DEFAULT_TIMEOUT_MS = 60_000;
const DEFAULT_MAX_OUTPUT_BYTES = 64 * 1024 * 1024;
/** What a pipe holds: with more, a program would wait for us whenever we are busy. */
const PIPE_BYTES = 65_536;
/** So many lines of what a program complained about stand in an error. */
const MAX_ERROR_LINES = 4;
const MAX_ERROR_LINE_LENGTH = 300;
const ENDED = "ended with exit code";

export const systemExec: Exec = { run: runProgram };

/** As `exec.run`, but an exit code other than 0 is an error. @throws CoreError ERR_PROGRAM_FAILED */
export async function execChecked(
  exec: Exec,
  program: string,
  args: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  const result = await exec.run(program, args, options);
  if (result.exitCode === 0) return result;
  throw failedProgram(program, args, result);
}

/** What a program that ended badly is reported as: the command and the first lines of its complaint. */
export function failedProgram(
  program: string,
  args: readonly string[],
  { exitCode, stderr }: ExecResult,
): CoreError {
  const complaint = firstLines(stderr);
  const said = complaint === "" ? "" : `: ${complaint}`;
  return fail("ERR_PROGRAM_FAILED", program, args, `${ENDED} ${exitCode}${said}`);
}

/** Whether a program came to its end and said why not; else it crashed, hung or could not be started. */
export function isComplaint(error: unknown): boolean {
  return (
    error instanceof CoreError &&
    error.code === "ERR_PROGRAM_FAILED" &&
    error.message.includes(ENDED)
  );
}

function runProgram(
  program: string,
  args: readonly string[],
  options: ExecOptions = {},
): Promise<ExecResult> {
  const { stdin = "", timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const { maxOutputBytes = DEFAULT_MAX_OUTPUT_BYTES, env = process.env } = options;
  return new Promise((resolve, reject) => {
    const isLong = typeof stdin === "string" && stdin.length > PIPE_BYTES;
    const spooled = isLong ? spoolText(stdin) : undefined;
    const stdio: StdioOptions = [spooled ?? "pipe", "pipe", "pipe"];
    let child: ChildProcess;
    try {
      child = spawn(program, args, { stdio, env: { ...env, LC_ALL: "C" } });
    } finally {
      if (spooled !== undefined) closeSync(spooled);
    }
    let problem: unknown;
    const kill = (reason: unknown) => {
      problem ??= reason;
      child.kill("SIGKILL");
      // What it started itself may have them, too, and go on.
      child.stdout?.destroy();
      child.stderr?.destroy();
    };
    const killFor = (what: string) => kill(fail("ERR_PROGRAM_FAILED", program, args, what));
    const timer = setTimeout(() => killFor(`took longer than ${timeoutMs} ms`), timeoutMs);
    const tooMuch = () => killFor(`printed more than ${maxOutputBytes} bytes`);
    const stdout = collect(child.stdout, maxOutputBytes, tooMuch);
    const stderr = collect(child.stderr, maxOutputBytes, tooMuch);
    child.on("error", (cause) => {
      clearTimeout(timer);
      reject(problem ?? notStarted(program, args, cause));
    });
    child.on("close", (exitCode, signal) => {
      clearTimeout(timer);
      if (problem !== undefined) return reject(problem);
      if (exitCode !== null) return resolve({ exitCode, stdout: stdout(), stderr: stderr() });
      reject(fail("ERR_PROGRAM_FAILED", program, args, `was ended by ${signal}`));
    });
    // A program may end without having read it all; its exit code tells why.
    child.stdin?.on("error", () => undefined);
    if (typeof stdin === "string") child.stdin?.end(stdin);
    // Without descriptors there is not even that: the error follows.
    else if (child.stdin) feed(child.stdin, stdin[Symbol.iterator](), kill);
  });
}

/** Asks for the next piece when the last one was taken. */
function feed(
  stream: NodeJS.WritableStream,
  pieces: Iterator<string>,
  onFailure: (error: unknown) => void,
): void {
  try {
    const { done, value } = pieces.next();
    if (done === true) stream.end();
    else {
      stream.write(value, (gone) => {
        if (!gone) feed(stream, pieces, onFailure);
      });
    }
  } catch (error) {
    onFailure(error);
  }
}

function collect(
  stream: NodeJS.ReadableStream | null,
  maxBytes: number,
  tooMuch: () => void,
): () => string {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream?.on("data", (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes > maxBytes) tooMuch();
    else chunks.push(chunk);
  });
  return () => Buffer.concat(chunks).toString("utf8");
}

function notStarted(program: string, args: readonly string[], cause: Error): CoreError {
  const isMissing = "code" in cause && cause.code === "ENOENT";
  return isMissing
    ? fail("ERR_NOT_POSSIBLE_HERE", program, args, "there is no such program; install it", cause)
    : fail("ERR_PROGRAM_FAILED", program, args, `could not be started: ${cause.message}`, cause);
}

function fail(
  code: ErrorCode,
  program: string,
  args: readonly string[],
  what: string,
  cause?: Error,
): CoreError {
  const options = cause === undefined ? undefined : { cause };
  return new CoreError(code, `${[program, ...args].join(" ")}: ${what}`, options);
}

function firstLines(text: string): string {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const shown = lines.slice(0, MAX_ERROR_LINES).map((line) => line.slice(0, MAX_ERROR_LINE_LENGTH));
  return shown.join("; ");
}
