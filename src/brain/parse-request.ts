import type * as z from "zod";
import { problemsError } from "../core/model/problems.ts";
import { checkAgainst } from "../core/model/zod-problems.ts";

/** What a caller asks, checked field by field. @throws CoreError ERR_STATE_INVALID with all problems */
export function parseRequest<T>(schema: z.ZodType<T>, request: unknown): T {
  const checked = checkAgainst(schema, request);
  if (checked.ok) return checked.value;
  throw problemsError("ERR_STATE_INVALID", checked.problems);
}
