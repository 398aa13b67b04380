import { CoreError } from "../../core/errors.ts";
import { isRaw, RawReader } from "../../core/model/raw-reader.ts";
import { documentsOf } from "./documents.ts";
import { readKpngState } from "./kpng/read-kpng-state.ts";
import { malformed } from "./malformed.ts";
import { readCanonical } from "./read-canonical.ts";
import { readManifests } from "./read-manifests.ts";
import { readShortForm } from "./short-form/read-short-form.ts";
import { type LoadedState, StateBuilder } from "./state-builder.ts";
import type { Document, StateFile } from "./state-file.ts";
import { findExcess } from "./tree-limits.ts";

const FORMS =
  "Kubernetes manifests (apiVersion, kind), a state file (version: 1), objects (kind) or the state of KPNG (a list of services)";

/**
 * Reads the state that the files describe together. Each document is told apart by its content.
 * @throws CoreError ERR_STATE_INVALID with everything that is wrong, each with file, line and field
 */
export function parseState(files: Iterable<StateFile>): LoadedState {
  const builder = new StateBuilder();
  const reader = new RawReader();
  for (const file of files) {
    try {
      readFile(file, builder, reader);
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      builder.failWith(error);
    }
  }
  return builder.finish();
}

function readFile(file: StateFile, builder: StateBuilder, reader: RawReader): void {
  let count = 0;
  for (const document of documentsOf(file)) {
    count++;
    readDocument(document, builder, reader);
  }
  // A file is empty for a moment while it is written: that is no order to delete all services.
  if (count > 0) return;
  const expected = `${FORMS}; for no services at all: version: 1`;
  throw malformed({ file, line: 1, reason: "the file is empty", expected });
}

function readDocument(document: Document, builder: StateBuilder, reader: RawReader): void {
  const { raw } = document;
  if (!isRaw(raw)) {
    builder.invalid({ document, path: [] }, raw, FORMS);
    return;
  }
  if (raw["apiVersion"] !== undefined) {
    readManifests(document, raw, builder, reader);
    return;
  }
  const excess = findExcess(raw);
  if (excess !== undefined) {
    builder.invalid({ document, path: excess.path }, excess.value, excess.expected);
  } else if (raw["version"] !== undefined) readShortForm(document, builder);
  else if (raw["kind"] !== undefined) readCanonical(raw, { document, path: [] }, builder);
  else if (Array.isArray(raw["services"] ?? raw["nodes"])) readKpngState(document, builder);
  else if (isRaw(raw["services"])) {
    builder.invalid({ document, path: ["version"] }, undefined, "1, the version of this form");
  } else builder.invalid({ document, path: [] }, raw, FORMS);
}
