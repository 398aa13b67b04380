import { createHash } from "node:crypto";

/** RFC 6455, section 1.3. */
const GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const KEY_BYTES = 16;

/** What `Sec-WebSocket-Accept` says to a `Sec-WebSocket-Key`. */
export function acceptKey(key: string): string {
  return createHash("sha1").update(`${key}${GUID}`).digest("base64");
}

/** Whether it is what a client has to send: 16 bytes in base64. */
export function isWebsocketKey(key: string): boolean {
  return /^[a-z0-9+/]{22}==$/i.test(key) && Buffer.from(key, "base64").length === KEY_BYTES;
}
