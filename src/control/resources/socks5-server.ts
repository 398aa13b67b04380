import type { Listener } from "../../core/model/listener.ts";
import type { DesiredResource } from "./desired-resource.ts";
import { type Field, text } from "./fields.ts";
import { ADDRESS } from "./listener-address.ts";
import {
  ALLOW_OTHERS,
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
  upstream,
} from "./listener-fields.ts";
import { listenerObjects, listenerResource } from "./listeners.ts";
import type { ObjectResource } from "./object-resource.ts";

const FIELDS: readonly Field<Listener>[] = [
  ADDRESS,
  upstream("backend"),
  SERVICE_PORT,
  ...loops("workerLoopGroup"),
  IDLE_TIMEOUT,
  CONNECT_TIMEOUT,
  ...BUFFERS,
  SECURITY_GROUP,
  ...PROXY_PROTOCOL,
  ALLOW_OTHERS,
  text(
    {
      name: "users",
      field: "users",
      placeholder: "FILE",
      help: "File of NAME:PASSWORD lines, one of which a client must give",
      standard: "none: nobody is asked",
    },
    ofListener("usersFile"),
  ),
  fallsBack("not-falls-back"),
  NODE,
];

export const SOCKS5_SERVERS: ObjectResource<"Listener"> = listenerObjects({
  type: "socks5-server",
  mode: "socks5",
  fields: FIELDS,
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
