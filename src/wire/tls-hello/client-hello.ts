import { isHostName } from "../../core/model/address.ts";
import { ByteCursor } from "./byte-cursor.ts";

/** What a client says before anything is encrypted. */
export interface ClientHello {
  /** In lower case; empty where it names none. */
  readonly serverName: string;
  /** The protocols that it offers, best first: `h2`, `http/1.1`. */
  readonly alpn: readonly string[];
}

const VERSION_AND_RANDOM_BYTES = 2 + 32;
const EXTENSION_SERVER_NAME = 0;
const EXTENSION_ALPN = 16;
const NAME_TYPE_HOST = 0;

/** Reads the body of a ClientHello (RFC 8446 section 4.1.2), or undefined where it is none. */
export function parseClientHello(
  bytes: Buffer,
  start: number,
  end: number,
): ClientHello | undefined {
  const hello = new ByteCursor(bytes, start, end);
  const isGood =
    hello.skip(VERSION_AND_RANDOM_BYTES) &&
    hello.vector(1) !== undefined && // session
    hello.vector(2) !== undefined && // cipher suites
    hello.vector(1) !== undefined; // compression methods
  if (!isGood) return undefined;
  if (hello.left === 0) return { serverName: "", alpn: [] };
  const extensions = hello.vector(2);
  return extensions === undefined || hello.left > 0 ? undefined : readExtensions(extensions);
}

function readExtensions(extensions: ByteCursor): ClientHello | undefined {
  const bodies = new Map<number, ByteCursor>();
  while (extensions.left > 0) {
    const type = extensions.uint(2);
    const body = extensions.vector(2);
    // Twice the same extension: two readers could choose two different ones.
    if (type === undefined || body === undefined || bodies.has(type)) return undefined;
    bodies.set(type, body);
  }
  const name = bodies.get(EXTENSION_SERVER_NAME);
  const protocols = bodies.get(EXTENSION_ALPN);
  const serverName = name === undefined ? "" : readServerName(name);
  const alpn = protocols === undefined ? [] : readAlpn(protocols);
  return serverName === undefined || alpn === undefined ? undefined : { serverName, alpn };
}

/** RFC 6066 section 3: a list in which a host name is at most once. */
function readServerName(body: ByteCursor): string | undefined {
  const names = body.vector(2);
  if (names === undefined || body.left > 0) return undefined;
  const type = names.uint(1);
  const name = names.vector(2)?.text();
  if (type !== NAME_TYPE_HOST || name === undefined || names.left > 0) return undefined;
  return isHostName(name) ? name.toLowerCase().replace(/\.$/, "") : "";
}

/** RFC 7301 section 3.1. */
function readAlpn(body: ByteCursor): readonly string[] | undefined {
  const list = body.vector(2);
  if (list === undefined || body.left > 0) return undefined;
  const protocols: string[] = [];
  while (list.left > 0) {
    const name = list.vector(1)?.text();
    if (name === undefined || name === "") return undefined;
    protocols.push(name);
  }
  return protocols;
}
