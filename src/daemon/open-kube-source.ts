import { homedir } from "node:os";
import process from "node:process";
import type { ValuesOf } from "../core/options/option-spec.ts";
import { loadConnection } from "../engines/kubernetes/load-connection.ts";
import { systemExec } from "../platform/linux/exec.ts";
import { createKubeSource } from "../sources/kube/kube-source.ts";
import type { Source } from "../sources/source.ts";
import type { SourceWorld } from "./create-source.ts";
import type { KUBE_OPTIONS } from "./kube-options.ts";
import type { SourceSpec } from "./source-spec.ts";

const NODE_LABELS: readonly string[] = ["kubernetes.io/hostname", "topology.kubernetes.io/*"];
/** What backends read beyond the fields of a service. */
const SERVICE_ANNOTATIONS: readonly string[] = ["*portolan*"];

/** Makes the source that follows a cluster, from its options. */
export function openKubeSource(
  { owner, context }: Extract<SourceSpec, { kind: "kube" }>,
  values: ValuesOf<typeof KUBE_OPTIONS>,
  { node, random, sleep }: SourceWorld,
): Source {
  return createKubeSource({
    owner,
    random,
    sleep,
    node: values.kubeNodes === "all" ? undefined : node,
    proxyName: values.serviceProxyName ?? "",
    pageSize: values.kubePageSize,
    kept: {
      serviceLabels: values.withServiceLabels,
      serviceAnnotations: orElse(values.withServiceAnnotations, SERVICE_ANNOTATIONS),
      nodeLabels: orElse(values.withNodeLabels, NODE_LABELS),
      nodeAnnotations: values.withNodeAnnotations,
    },
    connect: () =>
      loadConnection(
        {
          kubeconfig: values.kubeconfig,
          context: context ?? values.kubeContext,
          servers: values.kubeServer,
        },
        {
          exec: systemExec,
          environment: process.env,
          homeFolder: homedir(),
          nowMs: () => Date.now(),
        },
      ),
  });
}

function orElse(given: readonly string[], standard: readonly string[]): readonly string[] {
  return given.length > 0 ? given : standard;
}
