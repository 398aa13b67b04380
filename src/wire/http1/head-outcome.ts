import type { HttpProblem } from "./http-problem.ts";

/** `more`: the head is not complete; call again with more bytes, from the same start. */
export type HeadOutcome<Head> =
  | { readonly kind: "more" }
  | { readonly kind: "head"; readonly head: Head }
  | HttpProblem;

export const MORE_BYTES: { readonly kind: "more" } = Object.freeze({ kind: "more" });
