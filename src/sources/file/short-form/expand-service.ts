import type { PathPart } from "../../../core/model/problems.ts";
import { EACH_GROUP_ONCE, type ServiceType } from "../../../core/model/service.ts";
import { expandGroup } from "./expand-group.ts";
import type { Expansion } from "./expansion.ts";
import { keyIn, type Name } from "./names.ts";
import { type ExpandedPort, portFor, portsOf } from "./service-ports.ts";
import type { ShortListen, ShortService } from "./short-form.ts";

const MS_PER_SECOND = 1000;

/** A service becomes a Service, its Listeners, its own Group where it says how to balance, its Endpoints. */
export function expandService(
  out: Expansion,
  path: readonly PathPart[],
  name: Name,
  service: ShortService,
): void {
  const ports = portsOf(service);
  const addresses =
    service.clusterIPs.length + service.externalIPs.length + service.loadBalancerIPs.length;
  if (ports.length === 0 && addresses > 0) {
    out.fail([...path, "ports"], undefined, "at least one port, for the addresses of the service");
  }
  if (hasGroupTwice(out, path, name, service)) return;
  out.emit(path, serviceOf(name, service, ports));
  service.listen.forEach((listen, index) => {
    expandListen(out, [...path, "listen", index], { name, ports, index }, listen);
  });
  const { method, healthCheck, slowStart, hints, tls } = service;
  const balances = method ?? healthCheck ?? slowStart ?? hints ?? tls;
  if (service.groups.length > 0 && service.servers.length === 0 && balances !== undefined) {
    out.fail(
      path,
      "a method, health check, hint or tls without servers",
      "them at the groups it names",
    );
    return;
  }
  const metadata = balances === undefined ? undefined : {};
  expandGroup(out, path, name, { balancing: service, ports, metadata });
}

function serviceOf(
  { namespace, name }: Name,
  service: ShortService,
  ports: readonly ExpandedPort[],
): object {
  return {
    kind: "Service",
    namespace,
    name,
    labels: service.labels,
    annotations: service.annotations,
    type: service.type ?? typeOf(service, ports),
    clusterIPs: service.clusterIPs,
    externalIPs: service.externalIPs,
    loadBalancerIPs: service.loadBalancerIPs,
    edgeIPs: service.edgeIPs,
    ports,
    internalTrafficPolicy: service.internalTrafficPolicy,
    externalTrafficPolicy: service.externalTrafficPolicy,
    affinitySeconds: Math.ceil(service.affinity / MS_PER_SECOND),
    sourceRanges: service.sourceRanges,
    healthCheckNodePort: service.healthCheckNodePort,
    trafficDistribution: service.trafficDistribution,
    groups: groupRefsOf({ namespace, name }, service),
  };
}

/** The least of Kubernetes' types that has all the addresses; none of them for listeners alone. */
function typeOf(service: ShortService, ports: readonly ExpandedPort[]): ServiceType {
  if (service.loadBalancerIPs.length > 0) return "LoadBalancer";
  if (ports.some((port) => (port.nodePort ?? 0) !== 0)) return "NodePort";
  return service.clusterIPs.length + service.externalIPs.length > 0 ? "ClusterIP" : "Plain";
}

/** The model would refuse it as well, but at the place that the group has in the model. */
function hasGroupTwice(
  out: Expansion,
  path: readonly PathPart[],
  { namespace, name }: Name,
  { groups, servers }: ShortService,
): boolean {
  const seen = new Set(servers.length > 0 ? [`${namespace}/${name}`] : []);
  const twice = groups.findIndex((group) => {
    const key = keyIn(namespace, group.name);
    const isSeen = seen.has(key);
    seen.add(key);
    return isSeen;
  });
  if (twice < 0) return false;
  out.fail([...path, "groups", twice], groups[twice]?.name, EACH_GROUP_ONCE);
  return true;
}

/** Its own group goes before those that it names; alone it need not be said. */
function groupRefsOf(
  { namespace, name }: Name,
  { groups, servers }: ShortService,
): readonly object[] {
  if (groups.length === 0) return [];
  const own = servers.length > 0 ? [{ group: `${namespace}/${name}` }] : [];
  return [
    ...own,
    ...groups.map(({ name: group, weight, hints }) => ({
      group: keyIn(namespace, group),
      weight,
      hints,
    })),
  ];
}

interface ListenContext {
  readonly name: Name;
  readonly ports: readonly ExpandedPort[];
  readonly index: number;
}

function expandListen(
  out: Expansion,
  path: readonly PathPart[],
  { name: { namespace, name }, ports, index }: ListenContext,
  listen: ShortListen,
): void {
  const port = portFor(listen, ports);
  if (port === undefined) {
    const names = ports.map((one) => JSON.stringify(one.name)).join(", ");
    out.fail(
      [...path, "servicePort"],
      listen.servicePort,
      `the name of a port of the service: ${names}`,
    );
    return;
  }
  const { tls } = listen;
  out.emit(path, {
    kind: "Listener",
    namespace,
    name: listen.name ?? (index === 0 ? name : `${name}-${index + 1}`),
    labels: listen.labels,
    annotations: listen.annotations,
    ...listen.at,
    service: `${namespace}/${name}`,
    servicePort: port.name,
    mode: listen.mode,
    tls: tls && { ...tls, certificates: tls.certificates.map((one) => keyIn(namespace, one)) },
    proxyProtocol: listen.proxyProtocol,
    securityGroup: listen.securityGroup && keyIn(namespace, listen.securityGroup),
    idleTimeoutMs: listen.idleTimeout,
    connectTimeoutMs: listen.connectTimeout,
    inBufferBytes: listen.inBufferBytes,
    outBufferBytes: listen.outBufferBytes,
    acceptLoops: listen.acceptLoops,
    workLoops: listen.workLoops,
    fallsBack: listen.fallsBack,
    allowOthers: listen.allowOthers,
    usersFile: listen.usersFile,
    trustedHops: listen.trustedHops,
    hostsFile: listen.hostsFile,
    forwardTo: listen.forwardTo,
    dnsTtlSeconds: listen.dnsTtl && Math.round(listen.dnsTtl / MS_PER_SECOND),
    node: listen.node,
  });
}
