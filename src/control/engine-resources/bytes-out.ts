import type { ResourceHandler } from "../resource-handler.ts";
import { figureHandler } from "./traffic.ts";

export const BYTES_OUT: ResourceHandler = figureHandler({
  name: "bytes-out",
  shorts: ["bout"],
  summary: "Bytes that went to clients; of a connection, to its other end",
  channels: ["server-sock", "connection", "session"],
  ofTotals: ({ bytesOut }) => bytesOut,
  ofChannel: ({ bytesOut }) => bytesOut,
});
