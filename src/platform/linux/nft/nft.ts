import { CoreError } from "../../../core/errors.ts";
import { type Exec, execChecked, failedProgram } from "../exec.ts";
import { type ListedContainer, type NftListing, parseListing } from "./parse-listing.ts";
import type { NftTable } from "./table-script.ts";

/** The kernel's nftables, through the program `nft`. */
export interface Nft {
  /**
   * Runs commands as one transaction: all of them take effect at one moment, or none.
   * @throws CoreError ERR_PROGRAM_FAILED; see `isExists`, `isNotFound`
   */
  run(script: string): Promise<void>;
  /** Lets the kernel look at a transaction without doing it. @throws CoreError ERR_PROGRAM_FAILED */
  check(script: string): Promise<void>;
  /** All of a table; undefined where it is not there. @throws CoreError ERR_PROGRAM_FAILED */
  list(table: NftTable): Promise<NftListing | undefined>;
  /** The same without elements, which takes no time. @throws CoreError ERR_PROGRAM_FAILED */
  outline(table: NftTable): Promise<NftListing | undefined>;
  /** The elements of one set or map, as `list` tells them. @throws CoreError ERR_PROGRAM_FAILED */
  listElements(
    table: NftTable,
    container: string,
    kind: ListedContainer["kind"],
  ): Promise<readonly string[]>;
  /**
   * `1.0.6`.
   * @throws CoreError ERR_NOT_POSSIBLE_HERE where there is no nft, ERR_PROGRAM_FAILED where it does not work
   */
  version(): Promise<string>;
}

/** 50,000 services take seconds; what takes this long is stuck. */
const TIMEOUT_MS = 120_000;
/** To that it has an answer of its own. */
const VERSION_TIMEOUT_MS = 10_000;
const MAX_LISTING_BYTES = 1024 * 1024 * 1024;

const SAYS_EXISTS = "File exists";
const SAYS_NOT_FOUND = "No such file or directory";
const SAYS_NO = "Error: ";
/** nft 1.0.6 crashes on some commands for tables that hold other kinds of things than they say. */
const CRASHES = ["was ended by SIGSEGV", "was ended by SIGABRT"] as const;
const SAYS_DENIED = "Operation not permitted";

export function createNft(exec: Exec): Nft {
  const nft = (args: readonly string[], stdin = "") =>
    exec.run("nft", args, { stdin, timeoutMs: TIMEOUT_MS, maxOutputBytes: MAX_LISTING_BYTES });
  const runScript = async (args: readonly string[], script: string): Promise<void> => {
    const result = await nft(args, script);
    if (result.exitCode !== 0) throw failedProgram("nft", args, result);
  };
  const print = async (args: readonly string[]): Promise<string> => {
    const result = await nft(args);
    if (result.exitCode !== 0) throw failedProgram("nft", args, result);
    return result.stdout;
  };
  return {
    run: (script) => runScript(["-f", "-"], script),
    check: (script) => runScript(["-c", "-f", "-"], script),
    list: async ({ family, name }) => {
      const args = ["list", "table", family, name];
      const result = await nft(args);
      if (result.exitCode === 0) return parseListing(result.stdout);
      if (result.stderr.includes(SAYS_NOT_FOUND)) return undefined;
      throw failedProgram("nft", args, result);
    },
    // nft 1.0.6 reads all elements for `list table` and leaves them out afterwards.
    outline: async ({ family, name }) => {
      const text = await print(["-t", "list", "ruleset", family]);
      const from = `\n${text}`.indexOf(`\ntable ${family} ${name} {\n`);
      if (from < 0) return undefined;
      const end = text.indexOf("\n}\n", from);
      return parseListing(text.slice(from, end < 0 ? undefined : end));
    },
    listElements: async ({ family, name }, container, kind) => {
      const text = await print(["list", kind, family, name, container]);
      return parseListing(text).containers.get(container)?.elements ?? [];
    },
    version: async () => {
      const limits = { timeoutMs: VERSION_TIMEOUT_MS };
      const { stdout } = await execChecked(exec, "nft", ["--version"], limits);
      return /v(\d+(?:\.\d+)*)/.exec(stdout)?.[1] ?? "0";
    },
  };
}

/** What was to be added is there already. */
export function isExists(error: unknown): error is CoreError {
  return says(error, SAYS_EXISTS);
}

/** What was to be changed or deleted is not there. */
export function isNotFound(error: unknown): error is CoreError {
  return says(error, SAYS_NOT_FOUND);
}

/** nft or the kernel looked at the commands and said no, or nft did not survive them. */
export function isRefused(error: unknown): boolean {
  const isCrash = CRASHES.some((crash) => says(error, crash));
  return isCrash || (says(error, SAYS_NO) && !isDenied(error));
}

export function isDenied(error: unknown): boolean {
  return says(error, SAYS_DENIED);
}

function says(error: unknown, what: string): error is CoreError {
  return (
    error instanceof CoreError &&
    error.code === "ERR_PROGRAM_FAILED" &&
    error.message.includes(what)
  );
}
