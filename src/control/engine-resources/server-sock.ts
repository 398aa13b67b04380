import type { ResourceHandler } from "../resource-handler.ts";
import { serverSockRecord } from "./channel-records.ts";
import { channelHandler, listActions } from "./channel-resource.ts";
import { LISTENER_PLACES, LOOP_PLACES } from "./scope.ts";

const TEXTS = {
  name: "server-sock",
  one: "a listening socket",
  many: "listening sockets",
  example: "0.0.0.0:80",
} as const;

/** They are closed with their listener, never by themselves. */
export const SERVER_SOCK: ResourceHandler = channelHandler({
  kind: "server-sock",
  many: TEXTS.many,
  record: serverSockRecord,
  spec: {
    name: "server-sock",
    shorts: ["ss"],
    summary: "A listening socket, one for each event loop that accepts",
    section: "channel",
    isSystem: false,
    scopes: [{ within: [...LISTENER_PLACES, ...LOOP_PLACES], actions: listActions(TEXTS) }],
  },
});
