/*
 * WebSocks, the tunnel protocol of vproxy: an upgrade to WebSocket with the sub-protocol `socks5`, then
 * one binary frame in each direction that never ends, and inside of it SOCKS5 without authentication.
 */

/** What the upgrade names in `Sec-WebSocket-Protocol`. */
export const SUB_PROTOCOL = "socks5";
export const WEBSOCKET_VERSION = "13";

/** The head of a binary frame of 2^63-1 bytes, not masked: each side says it once, before SOCKS5. */
export const ENDLESS_FRAME: Buffer = Buffer.from("827f7fffffffffffffff", "hex");

/** An empty PONG: the client says it before its frame to keep a connection alive. Nobody answers it. */
export const PONG_FRAME: Buffer = Buffer.from("8a00", "hex");
