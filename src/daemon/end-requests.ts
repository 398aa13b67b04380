import type { Log } from "../core/log.ts";

/** Why the program shall end, and with which exit code. */
export interface EndRequest {
  readonly reason: string;
  readonly exitCode: number;
}

const EXIT_INTERRUPTED = 130;
const EXIT_TERMINATED = 143;
const EXIT_HUNG_UP = 129;
const EXIT_FAILED = 1;

/** The part of `process` that ends a program; tests give their own. */
export interface EndSignals {
  on(event: string, listener: (...args: unknown[]) => void): unknown;
  off(event: string, listener: (...args: unknown[]) => void): unknown;
}

export interface EndListener {
  readonly asked: Promise<EndRequest>;
  dispose(): void;
}

/**
 * Listens for what ends the program. The first SIGTERM (0) or SIGINT (130) asks for a clean end, a
 * second one ends it at once (143, 130); so does an error that nobody caught (1). SIGHUP is a SIGTERM
 * where there is a terminal that can go, and nothing where there is none. When nobody reads standard
 * output any more, the end is quiet (0).
 */
export function listenForEnd(options: {
  readonly signals: EndSignals;
  readonly stdout: EndSignals;
  readonly log: Log;
  readonly hasTerminal: boolean;
  /** Ends the process where it stands. */
  readonly exit: (code: number) => void;
}): EndListener {
  const { signals, stdout, log, hasTerminal, exit } = options;
  let wasAsked = false;
  let resolve: (request: EndRequest) => void = () => undefined;
  const asked = new Promise<EndRequest>((settle) => {
    resolve = settle;
  });
  const ask = (reason: string, exitCode: number, atOnceCode: number) => (): void => {
    if (wasAsked) {
      log.warn({ reason }, "asked to end a second time: ending at once");
      exit(atOnceCode);
      return;
    }
    wasAsked = true;
    resolve({ reason, exitCode });
  };
  const fatal = (error: unknown): void => {
    log.error({ err: error }, "an error that nobody caught; this is a bug");
    exit(EXIT_FAILED);
  };
  const outputFailed = (error: unknown): void => {
    const isClosed = error instanceof Error && "code" in error && error.code === "EPIPE";
    if (!isClosed) log.error({ err: error }, "standard output failed");
    resolve({ reason: "standard output was closed", exitCode: isClosed ? 0 : EXIT_FAILED });
  };
  const listeners: readonly [EndSignals, string, (...args: unknown[]) => void][] = [
    [signals, "SIGTERM", ask("SIGTERM", 0, EXIT_TERMINATED)],
    [signals, "SIGINT", ask("SIGINT", EXIT_INTERRUPTED, EXIT_INTERRUPTED)],
    [signals, "SIGHUP", hasTerminal ? ask("SIGHUP", 0, EXIT_HUNG_UP) : () => undefined],
    [signals, "uncaughtException", fatal],
    [signals, "unhandledRejection", fatal],
    [stdout, "error", outputFailed],
  ];
  for (const [target, event, listener] of listeners) target.on(event, listener);
  return {
    asked,
    dispose: () => {
      for (const [target, event, listener] of listeners) target.off(event, listener);
    },
  };
}
