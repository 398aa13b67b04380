import type { Listener } from "../../core/model/listener.ts";
import type { DesiredResource } from "./desired-resource.ts";
import type { Field } from "./fields.ts";
import { IP_ADDRESS } from "./listener-address.ts";
import {
  fallsBack,
  IDLE_TIMEOUT,
  loops,
  NODE,
  SECURITY_GROUP,
  SERVICE_PORT,
  upstream,
} from "./listener-fields.ts";
import { listenerObjects, listenerResource } from "./listeners.ts";
import type { ObjectResource } from "./object-resource.ts";

const FIELDS: readonly Field<Listener>[] = [
  IP_ADDRESS,
  upstream("backend"),
  SERVICE_PORT,
  ...loops("workerLoopGroup"),
  IDLE_TIMEOUT,
  SECURITY_GROUP,
  fallsBack("falls-back"),
  NODE,
];

export const UDP_LBS: ObjectResource<"Listener"> = listenerObjects({
  type: "udp-lb",
  mode: "udp",
  fields: FIELDS,
});

export const UDP_LB: DesiredResource = listenerResource(UDP_LBS, {
  shorts: ["ul"],
  summary: "A load balancer for UDP: each client stays with its server as long as something moves",
  one: "a UDP load balancer",
  many: "UDP load balancers",
  example: "udp-lb ulb0",
  add: ["add udp-lb ulb0 address 0.0.0.0:5353 upstream u0 timeout 30000"],
  update: ["update udp-lb ulb0 upstream u1"],
});
