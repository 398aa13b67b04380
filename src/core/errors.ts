import type { Problem } from "./model/problems.ts";

/** Codes are public API: never renamed, each one listed in docs/errors.md. */
export type ErrorCode =
  | "ERR_USAGE"
  | "ERR_CONFIG_INVALID"
  | "ERR_STATE_INVALID"
  | "ERR_STATE_TOO_LARGE"
  | "ERR_STATE_UNREADABLE"
  | "ERR_KEY_TAKEN"
  | "ERR_ADDRESS_TAKEN"
  | "ERR_EXHAUSTED"
  | "ERR_NOT_FOUND"
  | "ERR_IN_USE"
  | "ERR_NOT_OURS"
  | "ERR_REFUSED"
  | "ERR_UNAUTHORIZED"
  | "ERR_JOURNAL"
  | "ERR_NOT_POSSIBLE_HERE"
  | "ERR_LISTEN"
  | "ERR_NO_SERVER"
  | "ERR_SYSTEM_CALL"
  | "ERR_PROGRAM_FAILED"
  | "ERR_LOOP_ENDED"
  | "ERR_INSTANCE"
  | "ERR_API_UNREACHABLE"
  | "ERR_API_PROTOCOL"
  | "ERR_API_REFUSED"
  | "ERR_API_MESSAGE_TOO_LARGE"
  | "ERR_ETCD_UNREACHABLE"
  | "ERR_ETCD_REFUSED"
  | "ERR_ETCD_PROTOCOL"
  | "ERR_ETCD_COMPACTED"
  | "ERR_CHANGED_MEANWHILE"
  | "ERR_LEASE_LOST"
  | "ERR_SYNC_FAILED"
  | "ERR_SINK_BROKEN"
  | "ERR_ABORTED";

export interface CoreErrorOptions extends ErrorOptions {
  readonly problems?: readonly Problem[];
}

/** The only error class thrown on purpose. Callers branch on `code`. */
export class CoreError extends Error {
  override readonly name = "CoreError";
  readonly code: ErrorCode;
  /** All that is wrong with an input that was refused; empty for other errors. */
  readonly problems: readonly Problem[];

  constructor(code: ErrorCode, message: string, options?: CoreErrorOptions) {
    super(message, options);
    this.code = code;
    this.problems = options?.problems ?? [];
  }
}

/** What an error says, whatever was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether it says that who asked may not. */
export function isRefusal(error: unknown): boolean {
  return error instanceof CoreError && error.code === "ERR_UNAUTHORIZED";
}
