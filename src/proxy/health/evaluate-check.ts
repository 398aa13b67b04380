import type { CheckPlan } from "./check-plan.ts";
import { isStatusIn } from "./http-status.ts";

/** What was seen of a check, once no more is to be waited for. */
export type CheckObservation =
  | { readonly kind: "connected" }
  /** The connection stood as long as it was to be held. */
  | { readonly kind: "held" }
  /** Bytes came that are not looked at. */
  | { readonly kind: "bytes" }
  | { readonly kind: "closed" }
  | { readonly kind: "timed-out" }
  /** The system's word for it: `ECONNREFUSED`. */
  | { readonly kind: "failed"; readonly error: string }
  | { readonly kind: "talked" }
  /** A talk did not come to its end, in words. */
  | { readonly kind: "misunderstood"; readonly reason: string }
  | { readonly kind: "http-status"; readonly status: number }
  | { readonly kind: "not-http"; readonly reason: string }
  | { readonly kind: "dns-answer"; readonly rcode: number; readonly answers: number };

export interface CheckResult {
  readonly ok: boolean;
  /** Why not; empty where it is ok. */
  readonly reason: string;
}

const OK: CheckResult = Object.freeze({ ok: true, reason: "" });
const DNS_NOERROR = 0;
const DNS_SERVFAIL = 2;

/** Judges what was seen. Undefined: it says nothing yet, wait for more. */
export function evaluateCheck(
  plan: CheckPlan,
  observation: CheckObservation,
): CheckResult | undefined {
  if (plan.kind === "none") return OK;
  switch (observation.kind) {
    case "connected":
      return plan.kind === "tcp" ? OK : undefined;
    case "held":
    case "bytes":
      return plan.kind === "tcpDelay" ? OK : undefined;
    case "closed":
      return failure("the server closed the connection before it had answered");
    case "timed-out":
      return failure(`no answer within ${plan.timeoutMs} ms`);
    case "failed":
      return failure(observation.error);
    case "talked":
      return plan.kind === "talk" ? OK : undefined;
    case "misunderstood":
      return failure(observation.reason);
    case "not-http":
      return failure(`the answer is not HTTP: ${observation.reason}`);
    case "http-status":
      return plan.kind === "http" ? judgeStatus(observation.status, plan.status) : undefined;
    case "dns-answer":
      return plan.kind === "dns" ? judgeDns(observation, plan) : undefined;
  }
}

function judgeStatus(status: number, accepted: readonly string[]): CheckResult | undefined {
  if (isStatusIn(status, accepted)) return OK;
  const isInterim = status < 200;
  return isInterim ? undefined : failure(`status ${status}; expected ${accepted.join(", ")}`);
}

function judgeDns(
  { rcode, answers }: { readonly rcode: number; readonly answers: number },
  { name, needsAnswer }: { readonly name: string; readonly needsAnswer: boolean },
): CheckResult {
  if (!needsAnswer) return rcode === DNS_SERVFAIL ? failure("DNS SERVFAIL") : OK;
  if (rcode !== DNS_NOERROR) return failure(`DNS rcode ${rcode} for ${name}; expected 0`);
  return answers > 0 ? OK : failure(`no address in the DNS answer for ${name}`);
}

function failure(reason: string): CheckResult {
  return { ok: false, reason };
}
