import type { CallForm } from "./simulated-call.fixture.ts";

const HEAD_END = "\r\n\r\n";
const SOCKS5_GREETING_REPLY_BYTES = 2;
const SOCKS5_REPLY_BYTES = 10;

/** As it is: what comes back ends with the stream. */
export const TCP_FORM: CallForm = {
  kind: "tcp",
  head: () => new Uint8Array(0),
  readHead: () => 0,
  endsWithStream: true,
};

/** A request whose body comes back. */
export const HTTP_FORM: CallForm = {
  kind: "http",
  head: (byteCount) =>
    Buffer.from(
      `POST /echo HTTP/1.1\r\nHost: a.example\r\nContent-Length: ${byteCount}${HEAD_END}`,
    ),
  readHead: (bytes) => {
    const text = Buffer.from(bytes).toString("latin1");
    const end = text.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const status = text.slice("HTTP/1.1 ".length, text.indexOf("\r\n"));
    return status.startsWith("200") ? end + HEAD_END.length : `HTTP ${status}`;
  },
  endsWithStream: false,
};

/** Through SOCKS5, to a server by its address. */
export function socks5Form(ip: string, port: number): CallForm {
  const address = ip.split(".").map(Number);
  return {
    kind: "socks5",
    head: () => Uint8Array.of(5, 1, 0, 5, 1, 0, 1, ...address, port >> 8, port & 0xff),
    readHead: (bytes) => {
      const reply = bytes.subarray(SOCKS5_GREETING_REPLY_BYTES);
      if (reply.length < SOCKS5_REPLY_BYTES) return undefined;
      if (reply[1] !== 0) return `SOCKS5 ${reply[1]}`;
      return SOCKS5_GREETING_REPLY_BYTES + SOCKS5_REPLY_BYTES;
    },
    endsWithStream: true,
  };
}
