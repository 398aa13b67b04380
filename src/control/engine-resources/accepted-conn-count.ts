import type { ResourceHandler } from "../resource-handler.ts";
import { figureHandler } from "./traffic.ts";

export const ACCEPTED_CONN_COUNT: ResourceHandler = figureHandler({
  name: "accepted-conn-count",
  shorts: ["acc"],
  summary: "Connections or sessions so far; of a server, those that were made to it",
  channels: ["server-sock"],
  ofTotals: ({ totalConnections }) => totalConnections,
  ofChannel: ({ accepted }) => accepted,
});
