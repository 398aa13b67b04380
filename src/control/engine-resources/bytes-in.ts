import type { ResourceHandler } from "../resource-handler.ts";
import { figureHandler } from "./traffic.ts";

export const BYTES_IN: ResourceHandler = figureHandler({
  name: "bytes-in",
  shorts: ["bin"],
  summary: "Bytes that came from clients; of a connection, from its other end",
  channels: ["server-sock", "connection", "session"],
  ofTotals: ({ bytesIn }) => bytesIn,
  ofChannel: ({ bytesIn }) => bytesIn,
});
