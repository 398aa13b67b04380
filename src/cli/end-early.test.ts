import { EventEmitter } from "node:events";
import { expect, test } from "vitest";
import { type EarlySignals, endEarly } from "./end-early.ts";

class FakeProcess extends EventEmitter implements EarlySignals {
  readonly exits: number[] = [];

  exit(code: number): void {
    this.exits.push(code);
  }
}

test.each([
  ["run", "SIGTERM", 0],
  ["run", "SIGINT", 130],
  ["lb", "SIGTERM", 0],
  ["edge node", "SIGTERM", 0],
])("%s ends by %s with %i before it listens itself, not after", (command, signal, code) => {
  const process = new FakeProcess();
  endEarly(command.split(" "), process);
  process.emit(signal);
  expect(process.exits).toEqual([code]);
  process.on(signal, () => undefined);
  process.emit(signal);
  expect(process.exits).toEqual([code]);
});

test.each([[["check"]], [["edge", "status"]], [[]]])("%j is left to the system", (argv) => {
  const process = new FakeProcess();
  endEarly(argv, process);
  expect(process.eventNames()).toEqual([]);
});
