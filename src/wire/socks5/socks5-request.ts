import { renderSocks5Address } from "./socks5-address.ts";
import { ADDRESS_NAME, SOCKS_VERSION, type Socks5Address } from "./socks5-words.ts";

const CONNECT = 1;
const PORT_BYTES = 2;

/** A client's request to be connected to a target. A name has at most 255 bytes. */
export function renderSocks5Request({ host, isName, port }: Socks5Address): Buffer {
  const head = Buffer.from([SOCKS_VERSION, CONNECT, 0]);
  if (!isName) return Buffer.concat([head, renderSocks5Address(host, port)]);
  const name = Buffer.from(host, "latin1");
  const portBytes = Buffer.alloc(PORT_BYTES);
  portBytes.writeUInt16BE(port);
  return Buffer.concat([head, Buffer.from([ADDRESS_NAME, name.length]), name, portBytes]);
}
