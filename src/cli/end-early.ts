/** The part of `process` that this needs; tests give their own. */
export interface EarlySignals {
  on(event: "SIGTERM" | "SIGINT", listener: () => void): unknown;
  listenerCount(event: "SIGTERM" | "SIGINT"): number;
  exit(code: number): void;
}

const EXIT_CODES = { SIGTERM: 0, SIGINT: 130 } as const;
const DAEMONS: readonly string[] = ["run", "up", "lb", "edge node", "edge join"];

/**
 * From the first moment on a daemon ends cleanly when it is asked to, also while it still loads and
 * nothing is open. Once it listens itself, this leaves the signals to it.
 */
export function endEarly(argv: readonly string[], signals: EarlySignals): void {
  const [first, second] = argv;
  if (!DAEMONS.some((name) => name === first || name === `${first} ${second}`)) return;
  for (const signal of ["SIGTERM", "SIGINT"] as const) {
    signals.on(signal, () => {
      if (signals.listenerCount(signal) === 1) signals.exit(EXIT_CODES[signal]);
    });
  }
}
