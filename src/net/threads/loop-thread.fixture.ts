import { fileURLToPath } from "node:url";
import { Worker } from "node:worker_threads";
import type { Log } from "../../core/log.ts";
import { buildProgram } from "./build-program.fixture.ts";
import { createLoopHost } from "./loop-host.ts";
import type { LoopThreadHost, WorkerStart } from "./loop-thread.ts";

/** Threads run the sources, built when the first one is started. Compiled tests have them compiled as well. */
export function startSourceWorker(entry: URL, options: WorkerStart): Worker {
  const program = import.meta.url.endsWith(".js")
    ? new URL(entry.href.replace(/\.ts$/, ".js"))
    : buildProgram(fileURLToPath(entry));
  return new Worker(program, { ...options, transferList: [...options.transferList] });
}

export interface LoggedLine {
  readonly level: string;
  readonly fields: object;
  readonly message: string;
}

/** A host whose threads run the sources, with the lines that they log. */
export function sourceHost(): LoopThreadHost & { readonly lines: LoggedLine[] } {
  const lines: LoggedLine[] = [];
  const at =
    (level: string) =>
    (fields: object, message: string): void => {
      lines.push({ level, fields, message });
    };
  const log: Log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { ...createLoopHost(log), lines, startWorker: startSourceWorker };
}
