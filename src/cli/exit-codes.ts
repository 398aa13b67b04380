import { CoreError } from "../core/errors.ts";

export const EXIT_OK = 0;
export const EXIT_FAILED = 1;
export const EXIT_USAGE = 2;
const EXIT_BAD_INPUT = 3;
const EXIT_NOT_POSSIBLE = 4;
export const EXIT_INTERRUPTED = 130;

/** What each exit code says, for help and docs. */
export const EXIT_CODES: ReadonlyMap<number, string> = new Map([
  [EXIT_OK, "done"],
  [EXIT_FAILED, "failed"],
  [EXIT_USAGE, "wrong usage"],
  [EXIT_BAD_INPUT, "bad configuration or state file"],
  [EXIT_NOT_POSSIBLE, "not possible on this machine (the remedy is printed)"],
  [EXIT_INTERRUPTED, "interrupted"],
]);

export function exitCodeOf(error: unknown): number {
  if (!(error instanceof CoreError)) return EXIT_FAILED;
  switch (error.code) {
    case "ERR_USAGE":
      return EXIT_USAGE;
    case "ERR_CONFIG_INVALID":
    case "ERR_STATE_INVALID":
    case "ERR_STATE_TOO_LARGE":
    case "ERR_STATE_UNREADABLE":
    case "ERR_KEY_TAKEN":
    case "ERR_ADDRESS_TAKEN":
    case "ERR_JOURNAL":
      return EXIT_BAD_INPUT;
    case "ERR_NOT_POSSIBLE_HERE":
      return EXIT_NOT_POSSIBLE;
    default:
      return EXIT_FAILED;
  }
}
