import type { StringMap } from "../../core/model/common.ts";

/** A service with this label is served by the proxy that it names. */
export const PROXY_NAME_LABEL = "service.kubernetes.io/service-proxy-name";

export const FOR_ANOTHER_PROXY = "for another proxy";

/** @param proxyName which proxy is asking; empty: the one of services that name none */
export function isForProxy(labels: StringMap, proxyName: string): boolean {
  const named = labels[PROXY_NAME_LABEL];
  return proxyName === "" ? named === undefined : named === proxyName;
}
