import type { DesiredResource } from "./desired-resource.ts";
import { DNS_FIELDS } from "./listener-fields.ts";
import { listenerObjects, listenerResource } from "./listeners.ts";
import type { ObjectResource } from "./object-resource.ts";

export const DNS_SERVERS: ObjectResource<"Listener"> = listenerObjects({
  type: "dns-server",
  mode: "dns",
  fields: DNS_FIELDS,
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
  update: ["update dns-server dns0 hosts /etc/portolan/hosts"],
});
