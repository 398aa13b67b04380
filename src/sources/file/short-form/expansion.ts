import type { PathPart } from "../../../core/model/problems.ts";

/** Collects what a short form comes to: plain objects, which the model then checks and completes. */
export interface Expansion {
  /** @param path what in the short form the object was made of */
  emit(path: readonly PathPart[], object: unknown): void;
  fail(path: readonly PathPart[], value: unknown, expected: string): void;
}
