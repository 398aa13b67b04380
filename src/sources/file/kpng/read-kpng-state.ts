import { PROTOCOLS, type Protocol } from "../../../core/model/common.ts";
import { hashText } from "../../../core/model/hash.ts";
import { checkAgainst } from "../../../core/model/zod-problems.ts";
import { readCanonical } from "../read-canonical.ts";
import type { StateBuilder } from "../state-builder.ts";
import type { Document } from "../state-file.ts";
import { type KpngEndpoint, type KpngService, kpngStateSchema } from "./kpng-schema.ts";

/** Reads the state file of KPNG: its services with their endpoints, and its nodes. */
export function readKpngState(document: Document, builder: StateBuilder): void {
  const checked = checkAgainst(kpngStateSchema, document.raw);
  if (!checked.ok) {
    builder.fail(document, checked.problems);
    return;
  }
  const { nodes, services } = checked.value;
  nodes.forEach(({ name, labels, annotations, topology }, index) => {
    const node = { kind: "Node", name, labels, annotations, zone: topology.zone };
    readCanonical(node, { document, path: ["nodes", index] }, builder);
  });
  services.forEach(({ service, endpoints }, index) => {
    const path = ["services", index] as const;
    const reason = reasonToSkip(service);
    if (reason !== undefined) {
      builder.skip(`Service: ${reason}`);
      return;
    }
    readCanonical(serviceOf(service), { document, path: [...path, "service"] }, builder);
    endpointsOf(service, endpoints).forEach((endpoint, at) => {
      readCanonical(endpoint, { document, path: [...path, "endpoints", at] }, builder);
    });
  });
}

function reasonToSkip({ type, ips }: KpngService): string | undefined {
  if (type === "ExternalName") return "of type ExternalName";
  return ips.headless ? "headless" : undefined;
}

function serviceOf(service: KpngService): object {
  const { ips, sessionaffinity } = service;
  return {
    kind: "Service",
    namespace: service.namespace,
    name: service.name,
    labels: service.labels,
    annotations: service.annotations,
    type: service.type === "" ? undefined : service.type,
    clusterIPs: ips.clusterips,
    externalIPs: ips.externalips,
    loadBalancerIPs: ips.loadbalancerips,
    ports: service.ports.map((port) => ({
      name: port.name,
      protocol: protocolOf(port.protocol),
      port: port.port,
      nodePort: port.nodeport,
      targetPort: port.targetport,
      targetPortName: port.targetportname,
    })),
    internalTrafficPolicy: service.internaltraffictolocal ? "Local" : "Cluster",
    externalTrafficPolicy: service.externaltraffictolocal ? "Local" : "Cluster",
    affinitySeconds: sessionaffinity?.clientip.timeoutseconds ?? 0,
    sourceRanges: [...new Set(service.ipfilters.flatMap((filter) => filter.sourceranges))],
    healthCheckNodePort: service.healthchecknodeport,
  };
}

/** Numbers of KPNG's protocol enumeration, from 1. */
function protocolOf(number: number): Protocol {
  return PROTOCOLS[number - 1] ?? "TCP";
}

function endpointsOf(service: KpngService, endpoints: readonly KpngEndpoint[]): readonly object[] {
  const names = new Set<string>();
  return endpoints.map((info) => {
    const { ips, portoverrides } = info.endpoint;
    const hash = hashText(`${info.sourcename} ${ips.join(" ")}`);
    const isFree = info.podname !== "" && !names.has(info.podname);
    const name = isFree ? info.podname : [info.podname, hash].filter(Boolean).join("@");
    names.add(name);
    return {
      kind: "Endpoint",
      namespace: service.namespace,
      name,
      group: service.name,
      podName: info.podname,
      source: info.sourcename === "" ? service.name : info.sourcename,
      addresses: ips,
      ports: portoverrides,
      node: info.topology.node === "" ? info.nodename : info.topology.node,
      zone: info.topology.zone,
      hints: { zones: info.hints.zones },
      ready: info.conditions.ready,
      serving: info.conditions.ready,
    };
  });
}
