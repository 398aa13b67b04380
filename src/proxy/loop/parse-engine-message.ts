import { CoreError } from "../../core/errors.ts";
import type { EngineCommand, EngineReport, ProxyProgramData } from "./engine-messages.ts";

/*
 * What comes from another thread has no type. An engine and its loops are of one build, so the kind
 * tells the rest: one that is not known is a mistake of ours, and is told as such.
 */

const COMMANDS: Readonly<Record<EngineCommand["kind"], true>> = {
  block: true,
  change: true,
  checks: true,
  health: true,
  experience: true,
  stay: true,
  resolved: true,
  "cached-names": true,
};

const REPORTS: Readonly<Record<EngineReport["kind"], true>> = {
  changed: true,
  health: true,
  experience: true,
  stay: true,
  resolve: true,
  "cached-names": true,
};

/** @throws CoreError ERR_REFUSED where a loop is sent something else */
export function parseEngineCommand(body: unknown): EngineCommand {
  if (isKindOf<EngineCommand>(body, COMMANDS)) return body;
  throw unknownMessage("a loop was sent");
}

/** @throws CoreError ERR_REFUSED where a loop reports something else */
export function parseEngineReport(body: unknown): EngineReport {
  if (isKindOf<EngineReport>(body, REPORTS)) return body;
  throw unknownMessage("a loop reported");
}

/** @throws CoreError ERR_REFUSED where a loop is started with something else */
export function parseProgramData(data: unknown): ProxyProgramData {
  if (isProgramData(data)) return data;
  throw unknownMessage("a loop was started with");
}

/**
 * The socket that a connection came by which another loop hands over.
 * @throws CoreError ERR_REFUSED where it says something else
 */
export function parseSocketId(body: unknown): string {
  if (typeof body === "string") return body;
  throw unknownMessage("a connection was handed over with");
}

function isKindOf<M extends { readonly kind: string }>(
  body: unknown,
  kinds: Readonly<Record<M["kind"], true>>,
): body is M {
  if (typeof body !== "object" || body === null || !("kind" in body)) return false;
  return typeof body.kind === "string" && Object.hasOwn(kinds, body.kind);
}

function isProgramData(data: unknown): data is ProxyProgramData {
  return typeof data === "object" && data !== null && "index" in data;
}

function unknownMessage(what: string): CoreError {
  return new CoreError("ERR_REFUSED", `${what} a message that is not one of an engine`);
}
