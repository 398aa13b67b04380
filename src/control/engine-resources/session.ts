import type { ResourceHandler } from "../resource-handler.ts";
import { sessionRecord } from "./channel-records.ts";
import { channelHandler, listActions, removeActions } from "./channel-resource.ts";
import { LISTENER_PLACES, LOOP_PLACES, SERVER_PLACES } from "./scope.ts";

const TEXTS = {
  name: "session",
  one: "a session",
  many: "sessions",
  example: "10.0.0.1:80/10.0.0.7:51234",
} as const;

export const SESSION: ResourceHandler = channelHandler({
  kind: "session",
  many: TEXTS.many,
  record: sessionRecord,
  spec: {
    name: "session",
    shorts: ["sess"],
    summary: "A client with the server that it was led to, by the name of the client's connection",
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
