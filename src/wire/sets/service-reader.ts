import type { Family } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import type {
  EdgeAddress,
  GroupRef,
  Service,
  ServicePort,
  ServiceType,
} from "../../core/model/service.ts";
import type { EndingPlace } from "../../core/view/ops.ts";
import type { ProtoReader } from "../protobuf/proto-reader.ts";
import { checkedCidr, checkedIp, checkedName, checkedOptionalPort } from "./checks.ts";
import { familiesOf } from "./family-mask.ts";
import { readPortMapping } from "./port-mapping.ts";
import { SERVICE_FIELD } from "./service-fields.ts";
import {
  readAffinity,
  readEdgeAddress,
  readEndingPlace,
  readGroupRef,
  readIpFilter,
  readServiceIps,
  type ServiceIps,
} from "./service-parts.ts";
import { EXTENSION_FIELD } from "./set-id.ts";
import { orEmpty, stringMap } from "./shared-empties.ts";

/** What `localv1.Service` says. */
export interface ServiceMessage {
  readonly service: Service;
  /** As in `NodeService`; undefined where the sender does not know our fields. */
  readonly usable: readonly (readonly Family[])[] | undefined;
  readonly ending: readonly EndingPlace[];
}

/** Collects the fields; messages may hold them in any order. */
interface Draft extends ServiceIps {
  namespace: string;
  name: string;
  type: string;
  edgeIPs: EdgeAddress[];
  ports: ServicePort[];
  externalToLocal: boolean;
  internalToLocal: boolean;
  labels: Map<string, string>;
  annotations: Map<string, string>;
  filterRanges: string[];
  affinitySeconds: number;
  healthCheckNodePort: number;
  extension: number;
  clusterIpOrder: string[];
  externalIpOrder: string[];
  loadBalancerIpOrder: string[];
  sourceRangeOrder: string[];
  plain: boolean;
  trafficDistribution: string;
  groups: GroupRef[];
  usable: number[];
  ending: EndingPlace[];
}

function emptyDraft(): Draft {
  return {
    namespace: "",
    name: "",
    type: "",
    clusterIPs: EMPTY,
    externalIPs: EMPTY,
    loadBalancerIPs: EMPTY,
    edgeIPs: [],
    ports: [],
    externalToLocal: false,
    internalToLocal: false,
    labels: new Map(),
    annotations: new Map(),
    filterRanges: [],
    affinitySeconds: 0,
    healthCheckNodePort: 0,
    extension: 0,
    clusterIpOrder: [],
    externalIpOrder: [],
    loadBalancerIpOrder: [],
    sourceRangeOrder: [],
    plain: false,
    trafficDistribution: "",
    groups: [],
    usable: [],
    ending: [],
  };
}

/** Reads the rest of the reader's current message as a `localv1.Service`. */
export function readService(reader: ProtoReader): ServiceMessage {
  const draft = emptyDraft();
  for (let field = reader.next(); field !== 0; field = reader.next()) {
    if (field < EXTENSION_FIELD) readField(reader, field, draft);
    else readOwnField(reader, field, draft);
  }
  const extended = draft.extension > 0;
  return {
    service: serviceOf(draft),
    usable: extended
      ? draft.ports.map((_, index) => familiesOf(draft.usable[index] ?? 0))
      : undefined,
    ending: draft.ending,
  };
}

function readField(reader: ProtoReader, field: number, draft: Draft): void {
  switch (field) {
    case SERVICE_FIELD.namespace:
      draft.namespace = reader.string();
      return;
    case SERVICE_FIELD.name:
      draft.name = reader.string();
      return;
    case SERVICE_FIELD.type:
      draft.type = reader.string();
      return;
    case SERVICE_FIELD.ips:
      readServiceIps(reader, draft);
      return;
    case SERVICE_FIELD.ports:
      draft.ports.push(readPortMapping(reader));
      return;
    case SERVICE_FIELD.externalToLocal:
      draft.externalToLocal = reader.bool();
      return;
    case SERVICE_FIELD.labels:
      reader.entryInto(draft.labels);
      return;
    case SERVICE_FIELD.annotations:
      reader.entryInto(draft.annotations);
      return;
    case SERVICE_FIELD.ipFilters:
      readIpFilter(reader, draft.filterRanges);
      return;
    case SERVICE_FIELD.clientIpAffinity:
      draft.affinitySeconds = readAffinity(reader);
      return;
    case SERVICE_FIELD.internalToLocal:
      draft.internalToLocal = reader.bool();
      return;
    case SERVICE_FIELD.healthCheckNodePort:
      draft.healthCheckNodePort = reader.int32();
      return;
    default:
      reader.skip();
  }
}

function readOwnField(reader: ProtoReader, field: number, draft: Draft): void {
  switch (field) {
    case EXTENSION_FIELD:
      draft.extension = reader.uint32();
      return;
    case SERVICE_FIELD.clusterIpOrder:
      draft.clusterIpOrder.push(checkedIp("Service.ClusterIPOrder", reader.string()));
      return;
    case SERVICE_FIELD.externalIpOrder:
      draft.externalIpOrder.push(checkedIp("Service.ExternalIPOrder", reader.string()));
      return;
    case SERVICE_FIELD.loadBalancerIpOrder:
      draft.loadBalancerIpOrder.push(checkedIp("Service.LoadBalancerIPOrder", reader.string()));
      return;
    case SERVICE_FIELD.sourceRangeOrder:
      draft.sourceRangeOrder.push(checkedCidr("Service.SourceRangeOrder", reader.string()));
      return;
    case SERVICE_FIELD.plain:
      draft.plain = reader.bool();
      return;
    case SERVICE_FIELD.trafficDistribution:
      draft.trafficDistribution = reader.string();
      return;
    case SERVICE_FIELD.edgeIps:
      draft.edgeIPs.push(readEdgeAddress(reader));
      return;
    case SERVICE_FIELD.groups:
      draft.groups.push(readGroupRef(reader));
      return;
    case SERVICE_FIELD.usable:
      reader.numbersInto(draft.usable);
      return;
    case SERVICE_FIELD.ending:
      draft.ending.push(readEndingPlace(reader));
      return;
    default:
      reader.skip();
  }
}

function serviceOf(draft: Draft): Service {
  return {
    kind: "Service",
    namespace: checkedName("Service.Namespace", draft.namespace),
    name: checkedName("Service.Name", draft.name),
    labels: stringMap(draft.labels),
    annotations: stringMap(draft.annotations),
    type: draft.plain ? "Plain" : serviceType(draft.type),
    clusterIPs: firstFilled(draft.clusterIpOrder, draft.clusterIPs),
    externalIPs: firstFilled(draft.externalIpOrder, draft.externalIPs),
    loadBalancerIPs: firstFilled(draft.loadBalancerIpOrder, draft.loadBalancerIPs),
    edgeIPs: orEmpty(draft.edgeIPs),
    ports: orEmpty(draft.ports),
    internalTrafficPolicy: draft.internalToLocal ? "Local" : "Cluster",
    externalTrafficPolicy: draft.externalToLocal ? "Local" : "Cluster",
    affinitySeconds: draft.affinitySeconds,
    sourceRanges: firstFilled(draft.sourceRangeOrder, draft.filterRanges),
    healthCheckNodePort: checkedOptionalPort(
      "Service.HealthCheckNodePort",
      draft.healthCheckNodePort,
    ),
    trafficDistribution: draft.trafficDistribution,
    groups: orEmpty(draft.groups),
  };
}

/** Types that only old servers send (ExternalName, none at all) have no addresses to serve. */
function serviceType(text: string): ServiceType {
  return text === "NodePort" || text === "LoadBalancer" ? text : "ClusterIP";
}

function firstFilled<T>(first: readonly T[], second: readonly T[]): readonly T[] {
  return first.length > 0 ? first : orEmpty(second);
}
