import { CoreError } from "../../core/errors.ts";
import type { GrpcEnd } from "../../platform/http2/grpc-stream.ts";
import { GRPC_STATUS } from "../../wire/grpc/status.ts";

/** What etcd says by words where the code alone is not enough (its `rpctypes/error.go`). */
const COMPACTED = "required revision has been compacted";
const STALE_TOKEN = ["invalid auth token", "revision of auth store is old", "user name is empty"];
/** Its own time for the call was over, which it tells with the code for what it does not know. */
const OVERDUE = "context deadline exceeded";
const NOT_ENABLED = "authentication is not enabled";

/** What a failed call means for the one who called. */
export type EtcdFailure =
  /** Another member may do it. */
  | "elsewhere"
  /** It has to be said anew who asks. */
  | "token"
  | "final";

/** What the end of a call is, where it should have been an answer. */
export function failureOf(end: GrpcEnd): {
  readonly failure: EtcdFailure;
  readonly error: CoreError;
} {
  switch (end.kind) {
    case "lost":
      return { failure: "elsewhere", error: unreachable(end.message, end.cause) };
    case "wrong":
      if (isTooLarge(end.cause)) return { failure: "final", error: end.cause };
      return { failure: "elsewhere", error: wrong(end.message, end.cause) };
    case "status":
      return failureOfStatus(end.code, end.message);
  }
}

function failureOfStatus(
  code: number,
  message: string,
): { readonly failure: EtcdFailure; readonly error: CoreError } {
  if (code === GRPC_STATUS.ok) {
    return { failure: "elsewhere", error: unreachable("it ended the call") };
  }
  if (isLate(code, message)) {
    return { failure: "elsewhere", error: unreachable(message) };
  }
  if (message.includes(COMPACTED)) {
    return { failure: "final", error: new CoreError("ERR_ETCD_COMPACTED", `etcd: ${message}`) };
  }
  const isToken =
    code === GRPC_STATUS.unauthenticated || STALE_TOKEN.some((words) => message.includes(words));
  return { failure: isToken ? "token" : "final", error: refused(message) };
}

function isLate(code: number, message: string): boolean {
  if (code === GRPC_STATUS.unknown) return message.includes(OVERDUE);
  return code === GRPC_STATUS.unavailable || code === GRPC_STATUS.deadlineExceeded;
}

export function isNotEnabled(error: unknown): boolean {
  return error instanceof CoreError && error.message.includes(NOT_ENABLED);
}

export function isCompacted(error: unknown): boolean {
  return error instanceof CoreError && error.code === "ERR_ETCD_COMPACTED";
}

export function isTooLarge(error: unknown): error is CoreError {
  return error instanceof CoreError && error.code === "ERR_API_MESSAGE_TOO_LARGE";
}

export function unreachable(reason: string, cause?: unknown): CoreError {
  return new CoreError("ERR_ETCD_UNREACHABLE", `etcd does not answer: ${reason}`, { cause });
}

/** What it does not do for this caller, or for anyone. */
export function refused(reason: string): CoreError {
  return new CoreError("ERR_ETCD_REFUSED", `etcd refuses: ${reason.replace(/^etcdserver: /, "")}`);
}

export function wrong(reason: string, cause?: unknown): CoreError {
  return new CoreError("ERR_ETCD_PROTOCOL", `etcd answers wrongly: ${reason}`, { cause });
}

export function ended(): CoreError {
  return new CoreError("ERR_ABORTED", "the etcd client was closed");
}
