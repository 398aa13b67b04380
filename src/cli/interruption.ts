import { EXIT_INTERRUPTED, EXIT_OK } from "./exit-codes.ts";

/** The part of `process` that this needs; tests give their own. */
export interface Signals {
  on(event: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  off(event: "SIGTERM" | "SIGINT", listener: () => void): unknown;
}

/** That somebody had enough: by a signal, or because nobody reads any more. */
export interface Interruption {
  readonly signal: AbortSignal;
  /** What to end with. */
  exitCode(): number;
  dispose(): void;
}

/** Listens until `dispose`, for commands that go on until they are ended. */
export function listenForInterruption(
  signals: Signals,
  stdout: NodeJS.WritableStream,
): Interruption {
  const ended = new AbortController();
  let exitCode = EXIT_OK;
  const onInterrupt = (): void => {
    exitCode = EXIT_INTERRUPTED;
    ended.abort();
  };
  const onEnd = (): void => ended.abort();
  signals.on("SIGINT", onInterrupt);
  signals.on("SIGTERM", onEnd);
  stdout.on("error", onEnd);
  return {
    signal: ended.signal,
    exitCode: () => exitCode,
    dispose: () => {
      signals.off("SIGINT", onInterrupt);
      signals.off("SIGTERM", onEnd);
      stdout.off("error", onEnd);
    },
  };
}
