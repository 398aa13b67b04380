import type { Listener, ListenerMode } from "../../core/model/listener.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, word } from "./fields.ts";
import { ADDRESS } from "./listener-address.ts";
import {
  BUFFERS,
  CONNECT_TIMEOUT,
  fallsBack,
  IDLE_TIMEOUT,
  loops,
  NODE,
  ofListener,
  PROXY_PROTOCOL,
  SECURITY_GROUP,
  SERVICE_PORT,
  TLS,
  TRUSTED_HOPS,
  upstream,
} from "./listener-fields.ts";
import { listenerObjects, listenerResource } from "./listeners.ts";
import type { ObjectResource } from "./object-resource.ts";

const TCP_MODES: readonly ListenerMode[] = ["tcp", "http", "h2"];

const PROTOCOL: Field<Listener> = word(
  {
    name: "protocol",
    field: "protocol",
    values: TCP_MODES,
    aliases: { "http/1.x": "http" },
    help: "What is balanced: connections (tcp), or single requests (http, h2)",
    standard: "tcp",
  },
  TCP_MODES,
  ofListener("mode"),
);

const FIELDS: readonly Field<Listener>[] = [
  ADDRESS,
  upstream("backend"),
  SERVICE_PORT,
  PROTOCOL,
  ...loops("workerLoopGroup"),
  IDLE_TIMEOUT,
  CONNECT_TIMEOUT,
  ...BUFFERS,
  ...TLS,
  SECURITY_GROUP,
  ...PROXY_PROTOCOL,
  TRUSTED_HOPS,
  fallsBack("falls-back"),
  NODE,
];

export const TCP_LBS: ObjectResource<"Listener"> = listenerObjects({
  type: "tcp-lb",
  mode: "tcp",
  fields: FIELDS,
});

export const TCP_LB: DesiredResource = listenerResource(TCP_LBS, {
  shorts: ["tl"],
  summary: "A load balancer for TCP connections, or for HTTP requests, with or without TLS",
  one: "a TCP load balancer",
  many: "TCP load balancers",
  example: "tcp-lb lb0",
  add: [
    "add tcp-lb lb0 address 0.0.0.0:80 upstream u0 protocol http",
    "add tcp-lb lb1 address [::]:443 upstream u0 protocol h2 cert-key c0,c1 security-group secg0",
    "add tcp-lb lb2 address unix:/run/lb2.sock upstream u0 timeout 60000",
  ],
  update: [
    "update tcp-lb lb0 upstream u1",
    "update tcp-lb lb0 cert-key c1",
    "update tcp-lb lb0 event-loop-group elg0 in-buffer-size 32768",
  ],
});
