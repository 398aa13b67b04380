import type { StringMap } from "../../core/model/common.ts";
import type { Raw, RawReader } from "../../core/model/raw-reader.ts";

/** What the model takes over of a Kubernetes object's metadata. */
export interface Metadata {
  readonly namespace: string;
  readonly name: string;
  readonly labels: StringMap;
  readonly annotations: StringMap;
}

export function readMetadata(reader: RawReader, raw: Raw): Metadata {
  const metadata = reader.object(raw, "metadata");
  reader.enter("metadata");
  const read: Metadata = {
    namespace: readNamespace(reader, metadata),
    name: reader.name(metadata, "name"),
    labels: reader.stringMap(metadata, "labels"),
    annotations: reader.stringMap(metadata, "annotations"),
  };
  reader.leave();
  return read;
}

function readNamespace(reader: RawReader, metadata: Raw): string {
  if ((metadata["namespace"] ?? "") === "") return "default";
  return reader.intern(reader.name(metadata, "namespace"));
}
