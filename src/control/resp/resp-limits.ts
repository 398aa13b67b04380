import { DEFAULT_RESP_LIMITS, type RespLimits } from "../../wire/resp/resp-decoder.ts";

/** What clients of a RESP controller may take of the instance. */
export interface RespControllerLimits extends RespLimits {
  /** One more is told so and closed. */
  readonly maxConnections: number;
  /** A connection that asks for nothing in this time is closed. */
  readonly idleTimeoutMs: number;
  /** The same before the password was given. */
  readonly loginTimeoutMs: number;
  /** A client that takes nothing of its answers in this time is closed. */
  readonly stallTimeoutMs: number;
  /** Answers that wait for their readers, of all connections; whose answer goes beyond it is closed. */
  readonly maxBufferedBytes: number;
  /** How long the next password of an address waits that gave a wrong one; doubled each time. */
  readonly authDelayMs: number;
  readonly maxAuthDelayMs: number;
}

export const DEFAULT_LIMITS: RespControllerLimits = {
  ...DEFAULT_RESP_LIMITS,
  maxConnections: 1024,
  idleTimeoutMs: 300_000,
  loginTimeoutMs: 30_000,
  stallTimeoutMs: 30_000,
  maxBufferedBytes: 134_217_728,
  authDelayMs: 100,
  maxAuthDelayMs: 2000,
};
