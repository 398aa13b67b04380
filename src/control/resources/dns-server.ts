import { DEFAULT_TTL_SECONDS, type Listener, MAX_TTL_SECONDS } from "../../core/model/listener.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, integer, list, text } from "./fields.ts";
import { IP_ADDRESS } from "./listener-address.ts";
import {
  ALLOW_OTHERS,
  fallsBack,
  IDLE_TIMEOUT,
  loops,
  NODE,
  ofListener,
  SECURITY_GROUP,
  SERVICE_PORT,
  upstream,
} from "./listener-fields.ts";
import { listenerObjects, listenerResource } from "./listeners.ts";
import type { ObjectResource } from "./object-resource.ts";
import { A_RESOLVER } from "./rules.ts";

const FIELDS: readonly Field<Listener>[] = [
  IP_ADDRESS,
  upstream("rrsets"),
  SERVICE_PORT,
  ...loops("eventLoopGroup"),
  IDLE_TIMEOUT,
  SECURITY_GROUP,
  ALLOW_OTHERS,
  text(
    {
      name: "hosts",
      field: "hosts",
      placeholder: "FILE",
      help: "File like /etc/hosts that answers before the upstream does",
      standard: "none",
    },
    ofListener("hostsFile"),
  ),
  list(
    {
      name: "forward-to",
      field: "forwardTo",
      placeholder: "RESOLVER",
      help: "Resolvers (IP or IP:PORT) for other names, where those are served",
      standard: "those of the system",
    },
    ofListener("forwardTo"),
    A_RESOLVER,
  ),
  integer(
    {
      name: "ttl",
      field: "ttl",
      min: 0,
      max: MAX_TTL_SECONDS,
      help: "Seconds for which answers about servers may be kept; those of the hosts file have 60, others what their resolver says",
      standard: String(DEFAULT_TTL_SECONDS),
    },
    ofListener("dnsTtlSeconds"),
  ),
  fallsBack("not-falls-back"),
  NODE,
];

export const DNS_SERVERS: ObjectResource<"Listener"> = listenerObjects({
  type: "dns-server",
  mode: "dns",
  fields: FIELDS,
});

export const DNS_SERVER: DesiredResource = listenerResource(DNS_SERVERS, {
  shorts: ["dns"],
  summary: "A DNS server that answers with healthy servers of the group with that hint",
  one: "a DNS server",
  many: "DNS servers",
  example: "dns-server dns0",
  add: [
    "add dns-server dns0 address 127.0.0.1:5353 upstream u0",
    "add dns-server dns1 address 127.0.0.1:5354 upstream u0 allow-non-backend forward-to 192.0.2.53",
  ],
  update: ["update dns-server dns0 hosts /etc/portolan/hosts ttl 30"],
});
