import type { IncomingMessage } from "node:http";
import { isRaw } from "../../core/model/raw-reader.ts";
import { bodyChunks } from "./body-chunks.ts";

/** Why a server did not do what it was asked. */
export interface Refusal {
  /** Of HTTP. */
  readonly status: number;
  /** A word of Kubernetes: `Expired`, `Forbidden`; empty where it says none. */
  readonly reason: string;
  readonly message: string;
  /** How long it wants to be left alone; 0 where it does not say. */
  readonly retryAfterMs: number;
}

const MAX_BODY_BYTES = 65_536;
const MAX_MESSAGE_LENGTH = 300;
const MS_PER_SECOND = 1000;

/** Reads a Status, be it the body of an answer or the object of an event. */
export function refusalOf(raw: unknown, status = 0): Refusal {
  const body = isRaw(raw) ? raw : {};
  const { code, reason, message, details } = body;
  const seconds = isRaw(details) ? details["retryAfterSeconds"] : undefined;
  return {
    status: typeof code === "number" ? code : status,
    reason: typeof reason === "string" ? reason : "",
    message: (typeof message === "string" ? message : "").slice(0, MAX_MESSAGE_LENGTH),
    retryAfterMs: typeof seconds === "number" && seconds > 0 ? seconds * MS_PER_SECOND : 0,
  };
}

/**
 * Reads the answer of a server that refused. What can not be read of it is left out.
 * @param idleTimeoutMs so long nothing may come: the status has said enough
 */
export async function readRefusal(
  response: IncomingMessage,
  idleTimeoutMs: number,
  signal: AbortSignal,
): Promise<Refusal> {
  const status = response.statusCode ?? 0;
  const text = await readSome(bodyChunks(response, idleTimeoutMs, signal));
  signal.throwIfAborted();
  const refusal = refusalOf(parse(text), status);
  const header = Number(response.headers["retry-after"]);
  return {
    ...refusal,
    status,
    message: refusal.message === "" ? text.slice(0, MAX_MESSAGE_LENGTH).trim() : refusal.message,
    retryAfterMs:
      Number.isFinite(header) && header > 0 ? header * MS_PER_SECOND : refusal.retryAfterMs,
  };
}

async function readSome(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes > MAX_BODY_BYTES) break;
    }
  } catch {
    // A connection that broke off leaves what came.
  }
  return Buffer.concat(chunks).toString("utf8");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
