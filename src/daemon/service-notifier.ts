import { messageOf } from "../core/errors.ts";
import type { Log } from "../core/log.ts";

/** Tells the service manager how this process is (sd_notify(3)); does nothing where there is none. */
export interface ServiceNotifier {
  ready(): void;
  stopping(): void;
  /** Tells regularly that it is well, where that is asked for, until the result is called. */
  watch(isLive: () => boolean): () => void;
}

export interface NotifierOptions {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly pid: number;
  readonly log: Log;
  readonly send: (path: string, text: string) => void;
}

const MICROSECONDS_A_MS = 1000;

export function createNotifier(options: NotifierOptions): ServiceNotifier {
  const { environment, log } = options;
  const path = environment["NOTIFY_SOCKET"] ?? "";
  const send = (text: string): void => {
    if (path === "") return;
    try {
      options.send(path, text);
    } catch (error) {
      const why = messageOf(error);
      log.warn({ path }, `the service manager could not be told ${text}: ${why}`);
    }
  };
  return {
    ready: () => send("READY=1"),
    stopping: () => send("STOPPING=1"),
    watch: (isLive) => {
      const everyMs = watchdogMs(options);
      if (path === "" || everyMs === undefined) return () => undefined;
      const tell = (): void => {
        if (isLive()) send("WATCHDOG=1");
      };
      tell();
      // Twice in the time that is given, as sd_watchdog_enabled(3) advises.
      const timer = setInterval(tell, everyMs / 2).unref();
      return () => clearInterval(timer);
    },
  };
}

/** Undefined where nobody waits for it, or it is meant for another process. */
function watchdogMs({ environment, pid }: NotifierOptions): number | undefined {
  const meant = environment["WATCHDOG_PID"];
  if (meant !== undefined && meant !== String(pid)) return undefined;
  const microseconds = Number(environment["WATCHDOG_USEC"]);
  return microseconds > 0 ? microseconds / MICROSECONDS_A_MS : undefined;
}
