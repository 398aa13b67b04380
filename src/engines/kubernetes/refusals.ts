import { CoreError } from "../../core/errors.ts";
import type { Refusal } from "./read-refusal.ts";

const GONE = 410;
const GATEWAY_TIMEOUT = 504;

/** Whether a version is the trouble: one that the server no longer has, or does not have yet. */
export function isExpired({ status, reason, message }: Refusal): boolean {
  if (status === GONE || reason === "Expired" || reason === "Gone") return true;
  return status === GATEWAY_TIMEOUT && message.includes("Too large resource version");
}

export function failOf({ status, reason, message }: Refusal, what: string): CoreError {
  const words = [reason, message].filter((word) => word !== "").join(": ");
  return new CoreError(
    "ERR_API_REFUSED",
    `the Kubernetes API refused to ${what} (${status})${words === "" ? "" : `: ${words}`}`,
  );
}
