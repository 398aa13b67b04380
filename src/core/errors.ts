/** Codes are public API: never renamed, each one listed in docs/errors.md. */
export type ErrorCode =
  | "ERR_USAGE"
  | "ERR_CONFIG_INVALID"
  | "ERR_STATE_INVALID"
  | "ERR_STATE_TOO_LARGE"
  | "ERR_STATE_UNREADABLE"
  | "ERR_KEY_TAKEN"
  | "ERR_ADDRESS_TAKEN"
  | "ERR_NOT_FOUND"
  | "ERR_NOT_POSSIBLE_HERE"
  | "ERR_LISTEN"
  | "ERR_API_UNREACHABLE"
  | "ERR_API_PROTOCOL"
  | "ERR_SYNC_FAILED"
  | "ERR_ABORTED";

/** The only error class thrown on purpose. Callers branch on `code`. */
export class CoreError extends Error {
  override readonly name = "CoreError";
  readonly code: ErrorCode;

  constructor(code: ErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
