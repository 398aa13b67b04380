import { parseKind } from "../../core/model/parse.ts";
import { invalid } from "../../core/model/problems.ts";
import type { Service, ServiceType, TrafficPolicy } from "../../core/model/service.ts";
import { actionsOf } from "./actions.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, integer, type Lens, list, word } from "./fields.ts";
import { nameOfKey } from "./names.ts";
import { namesOf, type ObjectResource, planners, recordsOf } from "./object-resource.ts";
import { A_NETWORK, AN_IP } from "./rules.ts";
import { formatServicePort, parseServicePort, SERVICE_PORT_FORM } from "./service-ports.ts";
import { attachedOf, ownEndpoints, withAttached, withoutGroups } from "./upstream.ts";

const TYPES: readonly ServiceType[] = ["ClusterIP", "NodePort", "LoadBalancer", "Plain"];
const POLICIES: readonly TrafficPolicy[] = ["Cluster", "Local"];
const A_DAY_SECONDS = 86_400;

function of<F extends keyof Service>(field: F): Lens<Service, Service[F]> {
  return {
    get: (service) => service[field],
    set: (service, value) => ({ ...service, [field]: value }),
  };
}

const PORTS: Field<Service> = {
  specs: [
    {
      kind: "list",
      name: "ports",
      field: "ports",
      placeholder: SERVICE_PORT_FORM,
      required: true,
      help: `Ports that clients call, each ${SERVICE_PORT_FORM}`,
    },
  ],
  show: ({ ports }) => ports.map(formatServicePort),
  read: (service, params, problems) => {
    const entries = params.list("ports") ?? [];
    const ports = entries.map((entry) => parseServicePort(entry));
    entries.forEach((entry, index) => {
      if (ports[index] === undefined) problems.push(invalid(["ports"], entry, SERVICE_PORT_FORM));
    });
    return { ...service, ports: ports.filter((port) => port !== undefined) };
  },
};

const SERVICE_FIELDS: readonly Field<Service>[] = [
  word(
    {
      name: "type",
      field: "type",
      values: TYPES,
      help: "Kubernetes' word for who may call it; Plain: an upstream",
      standard: "ClusterIP",
    },
    TYPES,
    {
      get: ({ type }) => type,
      set: (service, type) => withAttached({ ...service, type }, attachedOf(service)),
    },
  ),
  list(
    {
      name: "cluster-ips",
      field: "clusterIps",
      placeholder: "IP",
      help: "Addresses inside the cluster, one of each family",
      standard: "none",
    },
    of("clusterIPs"),
    AN_IP,
  ),
  list(
    {
      name: "external-ips",
      field: "externalIps",
      placeholder: "IP",
      help: "Addresses outside the cluster that lead to its nodes",
      standard: "none",
    },
    of("externalIPs"),
    AN_IP,
  ),
  list(
    {
      name: "load-balancer-ips",
      field: "loadBalancerIps",
      placeholder: "IP",
      help: "Addresses of load balancers in front of the cluster",
      standard: "none",
    },
    of("loadBalancerIPs"),
    AN_IP,
  ),
  PORTS,
  integer(
    {
      name: "affinity",
      field: "affinity",
      min: 0,
      max: A_DAY_SECONDS,
      help: "Seconds that a client stays with its endpoint; 0 for no affinity",
      standard: "0",
    },
    of("affinitySeconds"),
  ),
  word(
    {
      name: "internal-policy",
      field: "internalPolicy",
      values: POLICIES,
      help: "Whether callers inside the cluster get endpoints of their own node only",
      standard: "Cluster",
    },
    POLICIES,
    of("internalTrafficPolicy"),
  ),
  word(
    {
      name: "external-policy",
      field: "externalPolicy",
      values: POLICIES,
      help: "Whether callers from outside get endpoints of the node that they call only",
      standard: "Cluster",
    },
    POLICIES,
    of("externalTrafficPolicy"),
  ),
  list(
    {
      name: "source-ranges",
      field: "sourceRanges",
      placeholder: "NETWORK",
      help: "Networks that may call the load-balancer addresses",
      standard: "all",
    },
    of("sourceRanges"),
    A_NETWORK,
  ),
  integer(
    {
      name: "health-check-node-port",
      field: "healthCheckNodePort",
      min: 0,
      max: 65_535,
      help: "Port on which nodes tell load balancers whether they have endpoints; 0 for none",
      standard: "0",
    },
    of("healthCheckNodePort"),
  ),
];

/** All services, upstreams among them. */
export const SERVICES: ObjectResource<"Service"> = {
  type: "service",
  kind: "Service",
  fields: SERVICE_FIELDS,
  standard: parseKind("Service", { name: "-" }),
  isOne: () => true,
  ownPart: withoutGroups,
  inner: ownEndpoints,
  details: () => (service) => ({
    "server-groups": attachedOf(service).map(({ group }) => nameOfKey(group)),
  }),
};

export const SERVICE: DesiredResource = {
  spec: {
    name: "service",
    shorts: ["svc"],
    summary: "What clients call by address and port, as in Kubernetes; every backend serves it",
    section: "module",
    isSystem: false,
    scopes: [
      {
        within: [[]],
        actions: actionsOf(SERVICE_FIELDS, {
          one: "a service",
          many: "services, upstreams among them",
          place: "",
          example: "service web",
          add: [
            "add service web cluster-ips 10.96.0.10 ports http:80:8080/tcp",
            "add service dns cluster-ips 10.96.0.11,fd00::11 ports dns:53/udp,dns-tcp:53/tcp",
            "add service shop type NodePort cluster-ips 10.96.0.12 ports 80:8080/tcp@30080",
          ],
          update: [
            "update service web affinity 10800",
            "update service web internal-policy Local external-policy Local",
          ],
          remove: " with its own endpoints; refused while a listener sends to it",
        }),
      },
    ],
  },
  plans: planners(SERVICES),
  names: ({ view }) => namesOf(SERVICES, view),
  records: (call) => recordsOf(SERVICES, call),
};
