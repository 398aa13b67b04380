import { acceptKey } from "./accept-key.ts";
import { type BasicCredentials, renderBasicCredentials } from "./basic-credentials.ts";
import { SUB_PROTOCOL, WEBSOCKET_VERSION } from "./websocks-words.ts";

export interface UpgradeRequest {
  /** Path, with the query where there is one. */
  readonly path: string;
  /** Of the field `Host`. */
  readonly host: string;
  readonly key: string;
  readonly credentials: BasicCredentials;
}

/** The request with which a client asks for a tunnel. */
export function renderUpgradeRequest({ path, host, key, credentials }: UpgradeRequest): Buffer {
  return render(`GET ${path} HTTP/1.1`, [
    `Host: ${host}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Key: ${key}`,
    `Sec-WebSocket-Version: ${WEBSOCKET_VERSION}`,
    `Sec-WebSocket-Protocol: ${SUB_PROTOCOL}`,
    `Authorization: ${renderBasicCredentials(credentials)}`,
  ]);
}

/** The answer to it. */
export function renderUpgradeResponse(key: string): Buffer {
  return render("HTTP/1.1 101 Switching Protocols", [
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${acceptKey(key)}`,
    `Sec-WebSocket-Protocol: ${SUB_PROTOCOL}`,
  ]);
}

function render(first: string, fields: readonly string[]): Buffer {
  return Buffer.from(`${[first, ...fields].join("\r\n")}\r\n\r\n`, "latin1");
}
