import { FAMILIES } from "../../core/model/address.ts";
import { EMPTY } from "../../core/model/common.ts";
import { type Endpoint, NO_TOPOLOGY, type TopologyHints } from "../../core/model/endpoint.ts";
import { checkedName } from "./checks.ts";
import type { EndpointMessage } from "./endpoint-reader.ts";
import { familiesOf } from "./family-mask.ts";

/** What an endpoint is called; `namespace` and `group` must have been checked. */
export interface EndpointNames {
  readonly namespace: string;
  readonly group: string;
  readonly name: string;
}

/** The model's endpoint that a message means. */
export function endpointOf(names: EndpointNames, message: EndpointMessage): Endpoint {
  return {
    kind: "Endpoint",
    namespace: names.namespace,
    name: checkedName("Endpoint.Name", names.name),
    labels: message.labels,
    annotations: message.annotations,
    group: names.group,
    podName: message.podName,
    source: message.source,
    addresses: message.addressOrder.length > 0 ? message.addressOrder : message.addresses,
    hostName: message.hostName,
    families: wantedFamilies(message),
    ports: message.ownPortsDiffer ? message.ownPorts : message.portOverrides,
    node: message.node,
    zone: message.zone,
    hints: hintsOf(message),
    ready: message.ready,
    serving: message.serving,
    terminating: message.terminating,
    weight: message.weight,
    instance: message.instance,
    needs: message.needs,
  };
}

/** Only of a host name, and only where they are not all. */
function wantedFamilies({ hostName, families }: EndpointMessage): Endpoint["families"] {
  const wanted = familiesOf(families);
  return hostName === "" || wanted.length === FAMILIES.length ? EMPTY : wanted;
}

function hintsOf({ hintZones, hintNodes }: EndpointMessage): TopologyHints {
  if (hintZones.length === 0 && hintNodes.length === 0) return NO_TOPOLOGY;
  return { zones: hintZones, nodes: hintNodes };
}
