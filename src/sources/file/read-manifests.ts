import { isRaw, type Raw, type RawReader } from "../../core/model/raw-reader.ts";
import { readManifest, type TypeMeta } from "../manifests/read-manifest.ts";
import type { StateBuilder } from "./state-builder.ts";
import type { Document } from "./state-file.ts";

const LIST_KIND = /^(\w*)List$/;

/** Reads a Kubernetes object, or a list of them (`List`, `ServiceList`). */
export function readManifests(
  document: Document,
  raw: Raw,
  builder: StateBuilder,
  reader: RawReader,
): void {
  const readOne = (item: Raw, assumed?: TypeMeta) => {
    const { id, objects, skipped } = readManifest(reader, item, assumed);
    if (skipped !== "") builder.skip(skipped);
    else builder.addAs(id, objects, { document, path: reader.path });
  };
  const list = LIST_KIND.exec(reader.string(raw, "kind"));
  try {
    if (list === null) readOne(raw);
    else
      readEach(
        reader,
        document.items ?? reader.list(raw, "items"),
        assumedOf(raw, list[1]),
        readOne,
      );
  } finally {
    builder.fail(document, reader.problems.splice(0));
  }
}

/** The entries of a typed list need not say what they are. */
function assumedOf(raw: Raw, itemKind = ""): TypeMeta | undefined {
  const { apiVersion } = raw;
  if (itemKind === "" || typeof apiVersion !== "string") return undefined;
  return { apiVersion, kind: itemKind };
}

function readEach(
  reader: RawReader,
  items: Iterable<unknown>,
  assumed: TypeMeta | undefined,
  read: (item: Raw, assumed: TypeMeta | undefined) => void,
): void {
  reader.enter("items");
  try {
    let index = 0;
    for (const item of items) {
      reader.enter(index);
      if (isRaw(item)) read(item, assumed);
      reader.leave();
      if (!isRaw(item)) reader.fail(index, item, "an object");
      index++;
    }
  } finally {
    reader.leave();
  }
}
