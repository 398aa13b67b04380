/** Calls on this process. */
import { bindCall, failure } from "./binding.ts";

const cYield = bindCall<[]>("int sched_yield()");
const cPrlimit = bindCall<[number, number, number, number]>(
  "int prlimit(int, int, uintptr_t, uintptr_t)",
);
const cExit = bindCall<[number]>("void _exit(int)");

/** prlimit(2) of this process; addresses of a struct rlimit, or 0. Returns a negative errno on failure. */
export function prlimit(resource: number, newLimit: number, oldLimit: number): number {
  return cPrlimit(0, resource, newLimit, oldLimit) < 0 ? failure() : 0;
}

/** _exit(2): ends all threads at once. Nothing is flushed and nobody is told. */
export function exitNow(exitCode: number): void {
  cExit(exitCode);
}

/** sched_yield(2): whoever else wants this processor has it first. */
export function yieldProcessor(): void {
  cYield();
}
