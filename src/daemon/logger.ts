import pino, { type DestinationStream, type Logger } from "pino";
import type { LogFormat, LogLevel } from "./options.ts";

export interface LoggerOptions {
  readonly level: LogLevel;
  readonly format: LogFormat;
  /** Whether people watch: what `auto` goes by. */
  readonly isTerminal: boolean;
}

const STDERR = 2;

/**
 * Logs to standard error, so that standard output holds only what was asked for: pretty on a
 * terminal, JSON elsewhere. Written at once, so that the last line before an end is not lost.
 */
export async function createLogger(options: LoggerOptions): Promise<Logger> {
  const isPretty = options.format === "pretty" || (options.format === "auto" && options.isTerminal);
  const destination = isPretty
    ? await createPretty(options.isTerminal)
    : pino.destination({ fd: STDERR, sync: true });
  return pino({ level: options.level, base: null }, destination);
}

/** In this thread: pino's own transports run in a worker, which an abrupt end would cut off. */
async function createPretty(colorize: boolean): Promise<DestinationStream> {
  const { PinoPretty } = await import("pino-pretty");
  return PinoPretty({
    destination: STDERR,
    sync: true,
    colorize,
    translateTime: "SYS:HH:MM:ss.l",
  });
}
