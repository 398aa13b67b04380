import { renderSocks5Address } from "./socks5-address.ts";
import { REPLIES, SOCKS_VERSION, type Socks5ReplyWord } from "./socks5-words.ts";

const UNBOUND = "0.0.0.0";

/**
 * The answer to a request.
 * @param ip with `port`: the local end of the connection that was made, or where datagrams are taken.
 */
export function renderSocks5Reply(word: Socks5ReplyWord, ip: string = UNBOUND, port = 0): Buffer {
  const head = Buffer.from([SOCKS_VERSION, REPLIES[word], 0]);
  return Buffer.concat([head, renderSocks5Address(ip, port)]);
}

const BY_ERROR: Readonly<Record<string, Socks5ReplyWord>> = {
  ECONNREFUSED: "connection-refused",
  ENETUNREACH: "network-unreachable",
  EHOSTUNREACH: "host-unreachable",
  ETIMEDOUT: "host-unreachable",
  ENOTFOUND: "host-unreachable",
};

/** What to answer where the connection could not be made, by the system's name for it. */
export function socks5ReplyFor(error: string): Socks5ReplyWord {
  return BY_ERROR[error] ?? "general-failure";
}
