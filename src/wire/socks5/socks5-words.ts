/** The numbers of RFC 1928 and RFC 1929. */

export const SOCKS_VERSION = 5;
export const AUTH_VERSION = 1;

export const METHOD_NONE = 0;
export const METHOD_PASSWORD = 2;
export const METHOD_UNACCEPTABLE = 0xff;

export const COMMANDS = { 1: "connect", 2: "bind", 3: "udp-associate" } as const;

export type Socks5Command = (typeof COMMANDS)[keyof typeof COMMANDS];

export const ADDRESS_V4 = 1;
export const ADDRESS_NAME = 3;
export const ADDRESS_V6 = 4;

export const REPLIES = {
  succeeded: 0,
  "general-failure": 1,
  "not-allowed": 2,
  "network-unreachable": 3,
  "host-unreachable": 4,
  "connection-refused": 5,
  "ttl-expired": 6,
  "command-not-supported": 7,
  "address-not-supported": 8,
} as const;

export type Socks5ReplyWord = keyof typeof REPLIES;

/** Where a client wants to go: an IP address or a name, and a port. */
export interface Socks5Address {
  readonly host: string;
  readonly isName: boolean;
  readonly port: number;
}
