import type { ModelObject } from "../../core/model/object.ts";
import type { Raw, RawReader } from "../../core/model/raw-reader.ts";
import { readEndpointSlice } from "../manifests/read-endpoint-slice.ts";
import { readNode } from "../manifests/read-node.ts";
import { readService } from "../manifests/read-service.ts";
import { type KeepStrings, keepMatching } from "./kept-strings.ts";

/** Which labels and annotations are kept, as patterns. */
export interface KeptMetadata {
  readonly serviceLabels: readonly string[];
  readonly serviceAnnotations: readonly string[];
  readonly nodeLabels: readonly string[];
  readonly nodeAnnotations: readonly string[];
}

type Read = (reader: RawReader, raw: Raw) => readonly ModelObject[];

export interface KubeReaders {
  readonly services: Read;
  readonly slices: Read;
  readonly nodes: Read;
}

/** Reads objects of Kubernetes with just the labels and annotations that are wanted. */
export function kubeReaders(kept: KeptMetadata, proxyName: string): KubeReaders {
  const ofService = trimmer(kept.serviceLabels, kept.serviceAnnotations);
  const ofNode = trimmer(kept.nodeLabels, kept.nodeAnnotations);
  return {
    services: (reader, raw) => {
      const service = readService(reader, raw, proxyName);
      return typeof service === "string" ? [] : [ofService(service)];
    },
    slices: (reader, raw) => readEndpointSlice(reader, raw, proxyName).endpoints,
    nodes: (reader, raw) => [ofNode(readNode(reader, raw))],
  };
}

interface Described {
  readonly labels: Parameters<KeepStrings>[0];
  readonly annotations: Parameters<KeepStrings>[0];
}

function trimmer(
  labels: readonly string[],
  annotations: readonly string[],
): <T extends Described>(object: T) => T {
  const keepLabels = keepMatching(labels);
  const keepAnnotations = keepMatching(annotations);
  return (object) => ({
    ...object,
    labels: keepLabels(object.labels),
    annotations: keepAnnotations(object.annotations),
  });
}
