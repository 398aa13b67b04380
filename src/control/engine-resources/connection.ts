import type { ResourceHandler } from "../resource-handler.ts";
import { connectionRecord } from "./channel-records.ts";
import { channelHandler, listActions, removeActions } from "./channel-resource.ts";
import { LISTENER_PLACES, LOOP_PLACES, SERVER_PLACES } from "./scope.ts";

const TEXTS = {
  name: "connection",
  one: "a connection",
  many: "connections",
  example: "10.0.0.1:80/10.0.0.7:51234",
} as const;

export const CONNECTION: ResourceHandler = channelHandler({
  kind: "connection",
  many: TEXTS.many,
  record: connectionRecord,
  spec: {
    name: "connection",
    shorts: ["conn"],
    summary: "A connection of a client or to a server, by the name LOCAL/REMOTE",
    section: "channel",
    isSystem: false,
    scopes: [
      {
        within: [...LISTENER_PLACES, ...LOOP_PLACES, ...SERVER_PLACES],
        actions: { ...listActions(TEXTS), ...removeActions(TEXTS) },
      },
    ],
  },
});
