import type { DesiredResource } from "./desired-resource.ts";
import { SOCKS5_FIELDS } from "./listener-fields.ts";
import { listenerObjects, listenerResource } from "./listeners.ts";
import type { ObjectResource } from "./object-resource.ts";

export const SOCKS5_SERVERS: ObjectResource<"Listener"> = listenerObjects({
  type: "socks5-server",
  mode: "socks5",
  fields: SOCKS5_FIELDS,
});

export const SOCKS5_SERVER: DesiredResource = listenerResource(SOCKS5_SERVERS, {
  shorts: ["socks5"],
  summary: "A SOCKS5 server: clients ask for a host, and the group with that hint serves it",
  one: "a SOCKS5 server",
  many: "SOCKS5 servers",
  example: "socks5-server s5",
  add: [
    "add socks5-server s5 address 127.0.0.1:1080 upstream u0",
    "add socks5-server s6 address 127.0.0.1:1081 upstream u0 allow-non-backend users /etc/portolan/users",
  ],
  update: ["update socks5-server s5 allow-non-backend", "update socks5-server s5 deny-non-backend"],
});
