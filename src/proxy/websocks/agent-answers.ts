import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import { renderSocks5Reply, socks5ReplyFor } from "../../wire/socks5/socks5-reply.ts";
import type { Socks5ReplyWord } from "../../wire/socks5/socks5-words.ts";
import type { Introduction } from "../openings/opening.ts";
import { renderTextResponse } from "./text-response.ts";

type Asked = NonNullable<Introduction["asked"]>;

const ESTABLISHED = Buffer.from("HTTP/1.1 200 Connection established\r\n\r\n", "latin1");
const NO_BYTES = Buffer.alloc(0);

const WORDS: ReadonlyMap<number, Socks5ReplyWord> = new Map([
  [-ERRNO.EACCES, "not-allowed"],
  [-ERRNO.EOPNOTSUPP, "command-not-supported"],
  [-ERRNO.EAFNOSUPPORT, "address-not-supported"],
]);

const STATUSES: Readonly<Partial<Record<Socks5ReplyWord, readonly [string, string]>>> = {
  "not-allowed": ["403 Forbidden", "the rules do not allow the target"],
  "network-unreachable": ["503 Service Unavailable", "no server of the tunnel can be reached"],
  "host-unreachable": ["504 Gateway Timeout", "the target can not be found or reached"],
  "connection-refused": ["502 Bad Gateway", "the target refused the connection"],
};
const OTHER_STATUS = ["502 Bad Gateway", "the connection to the target failed"] as const;

/** What a program is told when its connection stands. */
export function answerConnected(asked: Asked, local: SocketAddress): Buffer {
  switch (asked) {
    case "connect":
      return ESTABLISHED;
    case "http":
      return NO_BYTES;
    case "socks5":
      if (local.family === "unix") return renderSocks5Reply("succeeded");
      return renderSocks5Reply("succeeded", local.ip, local.port);
  }
}

/** What it is told when it does not, by the negative errno. */
export function answerFailed(asked: Asked, result: number): Buffer {
  const word = WORDS.get(result) ?? socks5ReplyFor(errnoName(result));
  if (asked === "socks5") return renderSocks5Reply(word);
  const [status, text] = STATUSES[word] ?? OTHER_STATUS;
  return renderTextResponse(status, `Portolan: ${text}.\n`);
}
