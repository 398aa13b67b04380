import type { ResourceQuery } from "../../engines/kubernetes/resource-query.ts";
import { PROXY_NAME_LABEL } from "../manifests/proxy-name.ts";

const HEADLESS_LABEL = "service.kubernetes.io/headless";

export interface ResourceOptions {
  /** Only services that name this proxy; empty: only those that name none. */
  readonly proxyName: string;
  /** Only this node; undefined: all. */
  readonly node: string | undefined;
}

/** What is followed of a cluster. The server leaves out what no proxy needs, as for kube-proxy. */
export interface KubeResources {
  readonly services: ResourceQuery;
  readonly slices: ResourceQuery;
  readonly nodes: ResourceQuery;
}

export function kubeResources({ proxyName, node }: ResourceOptions): KubeResources {
  const isOurs = proxyName === "" ? `!${PROXY_NAME_LABEL}` : `${PROXY_NAME_LABEL}=${proxyName}`;
  return {
    services: {
      path: "/api/v1/services",
      labelSelector: isOurs,
      fieldSelector: "spec.clusterIP!=None",
    },
    slices: {
      path: "/apis/discovery.k8s.io/v1/endpointslices",
      labelSelector: `!${HEADLESS_LABEL},${isOurs}`,
    },
    nodes: {
      path: "/api/v1/nodes",
      ...(node !== undefined && { fieldSelector: `metadata.name=${node}` }),
    },
  };
}
