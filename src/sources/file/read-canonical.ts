import { checkObject } from "../../core/model/parse.ts";
import type { Origin, StateBuilder } from "./state-builder.ts";

/** Reads an object of the model as `portolan get` prints it. */
export function readCanonical(raw: unknown, origin: Origin, builder: StateBuilder): void {
  const checked = checkObject(raw, origin.path);
  if (checked.ok) builder.add(checked.value, origin);
  else builder.fail(origin.document, checked.problems);
}
