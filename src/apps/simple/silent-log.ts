import type { Log } from "../../core/log.ts";

const silent = (): void => undefined;

/** For programs that want to hear nothing. */
export const SILENT_LOG: Log = { debug: silent, info: silent, warn: silent, error: silent };
