import { workerData } from "node:worker_threads";
import type { LoopThreadData } from "./loop-messages.ts";
import type { CreateLoopProgram } from "./loop-program.ts";
import { LoopRuntime } from "./loop-runtime.ts";
import { LoopSignal } from "./loop-signal.ts";

/**
 * Runs a program on the loop of this thread, and blocks it until the loop shall stop. It is what the
 * module of a `LoopThread` does, at its top:
 *
 *     runLoopProgram(({ net }) => new EchoProgram(net));
 */
export function runLoopProgram(createProgram: CreateLoopProgram): void {
  // LoopThread is the only one who starts such modules, and gives them this.
  const data: LoopThreadData = workerData;
  try {
    new LoopRuntime(data, createProgram).run();
  } finally {
    new LoopSignal(data.signalMemory).end();
    // Otherwise the port keeps the thread alive.
    data.commands.close();
  }
}
