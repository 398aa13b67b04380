import { createHash } from "node:crypto";

const MINUTE_MS = 60_000;

/** What stands for a password: its SHA-256, in base64. Who has it can come in, as with the password. */
export function websocksSecret(password: string): string {
  return sha256(password);
}

/** The beginning of the minute, in milliseconds since 1970. */
export function minuteOf(nowMs: number): number {
  return Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
}

/** What a client gives in place of the password, in the minute that it is. */
export function websocksToken(secret: string, minuteMs: number): string {
  return sha256(`${secret}${minuteMs}`);
}

/** The minutes whose tokens are good: clocks may be a minute apart. */
export function goodMinutes(nowMs: number): readonly number[] {
  const minute = minuteOf(nowMs);
  return [minute - MINUTE_MS, minute, minute + MINUTE_MS];
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("base64");
}
