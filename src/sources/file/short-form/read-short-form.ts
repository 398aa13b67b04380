import { checkAgainst } from "../../../core/model/zod-problems.ts";
import { readCanonical } from "../read-canonical.ts";
import type { StateBuilder } from "../state-builder.ts";
import type { Document } from "../state-file.ts";
import { expandShortForm } from "./expand-short-form.ts";
import type { Expansion } from "./expansion.ts";
import { shortFormSchema } from "./short-form-schema.ts";

/** Reads a document in Portolan's short form. */
export function readShortForm(document: Document, builder: StateBuilder): void {
  const checked = checkAgainst(shortFormSchema, document.raw);
  if (!checked.ok) {
    builder.fail(document, checked.problems);
    return;
  }
  const out: Expansion = {
    emit: (path, object) => readCanonical(object, { document, path }, builder),
    fail: (path, value, expected) => builder.invalid({ document, path }, value, expected),
  };
  expandShortForm(out, checked.value);
}
