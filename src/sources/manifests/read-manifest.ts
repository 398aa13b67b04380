import type { ModelObject } from "../../core/model/object.ts";
import type { Raw, RawReader } from "../../core/model/raw-reader.ts";
import { readEndpointSlice } from "./read-endpoint-slice.ts";
import { readNode } from "./read-node.ts";
import { readService } from "./read-service.ts";

/** What a Kubernetes object is to a proxy. */
export interface Manifest {
  /** What people call it: `EndpointSlice default/web-x7k2p`; empty where it is of no interest. */
  readonly id: string;
  readonly objects: readonly ModelObject[];
  /** What was not taken over, in words: `Deployment`, `Service: headless`; empty where all was. */
  readonly skipped: string;
}

/** The kind of an object, for those that do not say it (the entries of a typed list). */
export interface TypeMeta {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Reads one Kubernetes object; what is wrong with it is noted in the reader. */
export function readManifest(reader: RawReader, raw: Raw, assumed?: TypeMeta): Manifest {
  const apiVersion = reader.string(raw, "apiVersion", assumed?.apiVersion);
  const kind = reader.string(raw, "kind", assumed?.kind);
  switch (`${apiVersion} ${kind}`) {
    case "v1 Service": {
      const service = readService(reader, raw);
      if (typeof service === "string") return ignored(`Service: ${service}`);
      return taken(`Service ${service.namespace}/${service.name}`, [service]);
    }
    case "v1 Node": {
      const node = readNode(reader, raw);
      return taken(`Node ${node.name}`, [node]);
    }
    case "discovery.k8s.io/v1 EndpointSlice": {
      const { namespace, name, endpoints, skipped } = readEndpointSlice(reader, raw);
      if (skipped !== "") return ignored(`EndpointSlice: ${skipped}`);
      return taken(`EndpointSlice ${namespace}/${name}`, endpoints);
    }
    default:
      return ignored(kind === "" ? "object without a kind" : kind);
  }
}

function taken(id: string, objects: readonly ModelObject[]): Manifest {
  return { id, objects, skipped: "" };
}

function ignored(skipped: string): Manifest {
  return { id: "", objects: [], skipped };
}
