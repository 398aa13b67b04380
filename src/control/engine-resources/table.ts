import type { ResourceHandler } from "../resource-handler.ts";
import { ACCEPTED_CONN_COUNT } from "./accepted-conn-count.ts";
import { BYTES_IN } from "./bytes-in.ts";
import { BYTES_OUT } from "./bytes-out.ts";
import { CONNECTION } from "./connection.ts";
import { DNS_CACHE } from "./dns-cache.ts";
import { EVENT_LOOP } from "./event-loop.ts";
import { EVENT_LOOP_GROUP } from "./event-loop-group.ts";
import { RESOLVER_RESOURCE } from "./resolver.ts";
import { SERVER_SOCK } from "./server-sock.ts";
import { SESSION } from "./session.ts";

/** Everything that commands can do to what runs. */
export const ENGINE_HANDLERS: readonly ResourceHandler[] = [
  EVENT_LOOP_GROUP,
  EVENT_LOOP,
  SERVER_SOCK,
  CONNECTION,
  SESSION,
  BYTES_IN,
  BYTES_OUT,
  ACCEPTED_CONN_COUNT,
  DNS_CACHE,
  RESOLVER_RESOURCE,
];
