import type { Log } from "../../core/log.ts";
import type { LogLevel } from "./loop-messages.ts";

/** More in a second are counted, not sent: a loop that fails a lot must not drown the main thread. */
const MAX_PER_SECOND = 200;
const SECOND_MS = 1000;

/** A log inside a loop's thread, whose lines go to the main thread. It never throws. */
export function createLoopLog(options: {
  readonly nowMs: () => number;
  readonly send: (level: LogLevel, fields: object, message: string) => void;
}): Log {
  let windowStartMs = Number.NEGATIVE_INFINITY;
  let sent = 0;
  let leftOut = 0;
  const write = (level: LogLevel, fields: object, message: string): void => {
    try {
      options.send(level, fields, message);
    } catch (error) {
      // Something in the fields can not be cloned.
      options.send(level, { fields: String(error) }, message);
    }
  };
  const log = (level: LogLevel, fields: object, message: string): void => {
    const nowMs = options.nowMs();
    if (nowMs - windowStartMs >= SECOND_MS) {
      const missed = leftOut;
      windowStartMs = nowMs;
      sent = 0;
      leftOut = 0;
      if (missed > 0) write("warn", { leftOut: missed }, "log lines of this loop were left out");
    }
    sent += 1;
    if (sent > MAX_PER_SECOND) leftOut += 1;
    else write(level, fields, message);
  };
  return {
    debug: (fields, message) => log("debug", fields, message),
    info: (fields, message) => log("info", fields, message),
    warn: (fields, message) => log("warn", fields, message),
    error: (fields, message) => log("error", fields, message),
  };
}
