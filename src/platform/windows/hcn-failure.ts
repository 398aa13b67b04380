import { CoreError } from "../../core/errors.ts";
import type { HcnKind } from "./hcn-calls.ts";

/** What a refusal of HCN means to a caller. */
export type HcnFailureKind =
  | "network-not-found"
  | "endpoint-not-found"
  | "not-found"
  | "exists"
  /** Another load balancer has that address and port. */
  | "port-exists"
  | "invalid-address"
  | "invalid"
  | "unsupported"
  /** Only an administrator may. */
  | "access-denied"
  /** HNS does not run, or ended while it was asked. */
  | "service-down"
  | "other";

/** Numbers of winerror.h, as HRESULTs. */
export const HRESULT = {
  networkNotFound: 0x803b0001,
  endpointNotFound: 0x803b0002,
  policyNotFound: 0x803b0008,
  portExists: 0x803b0013,
  unsupported: 0x803b0015,
  invalidJson: 0x803b001b,
  invalidAddress: 0x803b001e,
  managerStopped: 0x803b0020,
  fileNotFound: 0x80070002,
  accessDenied: 0x80070005,
  invalidParameter: 0x80070057,
  exists: 0x800700b7,
  notFound: 0x80070490,
  serviceNotActive: 0x80070426,
  unknownInterface: 0x800706b5,
  serverUnavailable: 0x800706ba,
  callFailed: 0x800706be,
} as const;

const KINDS: ReadonlyMap<number, HcnFailureKind> = new Map<number, HcnFailureKind>([
  [HRESULT.networkNotFound, "network-not-found"],
  [HRESULT.endpointNotFound, "endpoint-not-found"],
  [HRESULT.policyNotFound, "not-found"],
  [HRESULT.fileNotFound, "not-found"],
  [HRESULT.notFound, "not-found"],
  [HRESULT.accessDenied, "access-denied"],
  [HRESULT.exists, "exists"],
  [HRESULT.portExists, "port-exists"],
  [HRESULT.invalidAddress, "invalid-address"],
  [HRESULT.invalidJson, "invalid"],
  [HRESULT.invalidParameter, "invalid"],
  [HRESULT.unsupported, "unsupported"],
  [HRESULT.managerStopped, "service-down"],
  [HRESULT.serviceNotActive, "service-down"],
  [HRESULT.unknownInterface, "service-down"],
  [HRESULT.serverUnavailable, "service-down"],
  [HRESULT.callFailed, "service-down"],
]);

const REMEDIES: ReadonlyMap<HcnFailureKind, string> = new Map<HcnFailureKind, string>([
  ["access-denied", "run it as an administrator"],
  ["service-down", "HNS does not answer: Start-Service hns; it is tried again"],
]);

/** What HCN answered in place of success; the cause of the error that is thrown. */
export class HcnFailure {
  /** `HcnCreateEndpoint`. */
  readonly call: string;
  /** Unsigned, as winerror.h writes it. */
  readonly hresult: number;
  readonly kind: HcnFailureKind;
  /** The error record, as it came; empty where there was none. */
  readonly record: string;

  constructor(call: string, hresult: number, record: string) {
    this.call = call;
    this.hresult = hresult >>> 0;
    this.kind = KINDS.get(this.hresult) ?? "other";
    this.record = record;
  }
}

/** A refused call as the error that is thrown. @param subject what it was about: an id */
export function hcnError(
  call: string,
  hresult: number,
  { record = "", subject = "" }: { readonly record?: string; readonly subject?: string } = {},
): CoreError {
  const failure = new HcnFailure(call, hresult, record);
  const code = `0x${failure.hresult.toString(16).padStart(8, "0")}`;
  const said = [wordsOf(record), REMEDIES.get(failure.kind) ?? ""].filter(Boolean).join("; ");
  const message = `${call}${subject === "" ? "" : ` of ${subject}`} failed: ${code} (${failure.kind})${said === "" ? "" : `: ${said}`}`;
  return new CoreError("ERR_SYSTEM_CALL", message, { cause: failure });
}

/** Undefined where the error is none of HCN. */
export function failureOf(error: unknown): HcnFailure | undefined {
  return error instanceof CoreError && error.cause instanceof HcnFailure ? error.cause : undefined;
}

/** That object itself is not there; one that it refers to does not count. */
export function isNotFound(error: unknown, kind: HcnKind): boolean {
  const failure = failureOf(error)?.kind;
  return failure === "not-found" || failure === OWN_NOT_FOUND[kind];
}

const OWN_NOT_FOUND: Readonly<Record<HcnKind, HcnFailureKind>> = {
  Network: "network-not-found",
  Endpoint: "endpoint-not-found",
  LoadBalancer: "not-found",
};

/** The text in an error record, which is JSON with a field `Error`; the record itself where it is not. */
function wordsOf(record: string): string {
  try {
    const parsed: unknown = JSON.parse(record);
    if (typeof parsed === "object" && parsed !== null && "Error" in parsed) {
      return String(parsed.Error);
    }
  } catch {
    // Told as it came.
  }
  return record.trim();
}
