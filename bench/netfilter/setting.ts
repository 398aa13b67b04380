import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { nodeName } from "../support/cluster.ts";
import { asJson, createManifests } from "../support/manifests.ts";
import type { Figure } from "../support/report.ts";
import { Namespace } from "./namespaces.ts";
import { targetManifests } from "./traffic.ts";

/** How much is measured. */
export interface Setting {
  /** For files that end with the benchmark. */
  readonly folder: string;
  readonly services: number;
  readonly smallServices: number;
  readonly manyServices: number;
  /** Of one endpoint each. */
  readonly changes: number;
  readonly rounds: number;
  /** Of traffic: how often each way has its turn; and before, unmeasured. */
  readonly trafficRounds: number;
  readonly warmUpRounds: number;
  /** Whether kube-proxy itself is measured, too. */
  readonly hasKubeProxy: boolean;
}

/** One part of the benchmark, which can be run alone. */
export type Part = (setting: Setting) => Promise<readonly Figure[]>;

/** The node whose services are measured. */
export const NODE: string = nodeName(0);
const ENDPOINTS = 3;
const NODES = 100;
const ZONES = 10;

/** A file with so many services, mixed as in `bench -- core`. */
export function stateOf({ folder }: Setting, services: number): string {
  const path = join(folder, `${services}.json`);
  if (existsSync(path)) return path;
  const size = { services, endpointsPerService: ENDPOINTS, nodes: NODES, zones: ZONES };
  writeFileSync(path, asJson([...createManifests(size), ...targetManifests()]));
  return path;
}

/** In a namespace of its own, which ends with it. */
export async function within<T>(work: (namespace: Namespace) => T | Promise<T>): Promise<T> {
  const namespace = Namespace.create();
  try {
    return await work(namespace);
  } finally {
    namespace.remove();
  }
}

export function most(name: string, value: number, unit: string, limit?: number): Figure {
  return { name, value, unit, limit };
}

export function least(name: string, value: number, unit: string, limit?: number): Figure {
  return { name, value, unit, limit, bound: "least" };
}

export function progress(text: string): void {
  console.error(`netfilter: ${text}`);
}
