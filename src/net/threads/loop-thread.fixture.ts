import { Worker } from "node:worker_threads";
import type { Log } from "../../core/log.ts";
import { createLoopHost } from "./loop-host.ts";
import type { LoopThreadHost, WorkerStart } from "./loop-thread.ts";

/** Node 20 does not read TypeScript: a thread that runs the sources lets tsx do it. Compiled tests need no help. */
function startSourceWorker(entry: URL, options: WorkerStart): Worker {
  if (import.meta.url.endsWith(".js")) {
    const compiled = new URL(entry.href.replace(/\.ts$/, ".js"));
    return new Worker(compiled, { ...options, transferList: [...options.transferList] });
  }
  const tsx = import.meta.resolve("tsx/esm/api");
  const script = `import(${JSON.stringify(tsx)}).then(({ register }) => {
    register();
    return import(${JSON.stringify(entry.href)});
  });`;
  return new Worker(script, {
    ...options,
    eval: true,
    transferList: [...options.transferList],
  });
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
