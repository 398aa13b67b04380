import { BALANCING_METHODS, METHOD_SHORTS } from "../core/model/group.ts";

/** What `lb` balances, and how. */
export const LB_OPTIONS = {
  listen: { kind: "address", help: "where clients call" },
  servers: {
    kind: "list",
    placeholder: "HOST:PORT|unix:/PATH[,...]",
    help: "the servers to balance to, separated by commas; may be repeated",
  },
  method: {
    kind: "enum",
    // Types have to be said where declarations are made file by file.
    values: BALANCING_METHODS as typeof BALANCING_METHODS,
    aliases: METHOD_SHORTS as typeof METHOD_SHORTS,
    default: "weighted-round-robin",
    help: "how a server is chosen; wrr, wlc, rr, ll and source are short for some of them",
  },
  protocol: {
    kind: "enum",
    values: ["tcp", "udp", "http", "h2"],
    default: "tcp",
    help: "tcp, udp: bytes and datagrams as they are; http, h2: requests of a connection one by one",
  },
  healthCheck: {
    kind: "enum",
    values: ["none", "tcp", "tcpDelay", "http"],
    help: "how servers are checked; tcp when not given, none with --protocol udp",
  },
  socks5: { kind: "boolean", help: "clients speak SOCKS5 and name the server they want" },
  allowOthers: {
    kind: "boolean",
    help: "with --socks5: also to hosts that are not among --servers",
  },
  socks5Users: {
    kind: "string",
    placeholder: "FILE",
    help: "with --socks5: a file of name:password lines, one of which a client must give; read again when it changes",
  },
  tlsCert: {
    kind: "list",
    placeholder: "FILE",
    help: "clients speak TLS; certificate and chain (PEM), chosen by the name that a client asks for; may be repeated",
  },
  tlsKey: {
    kind: "list",
    placeholder: "FILE",
    help: "private key (PEM) of each --tls-cert, in the same order; both are read again when they change",
  },
  tlsClientCa: {
    kind: "string",
    placeholder: "FILE",
    help: "with --tls-cert: only clients with a certificate of these authorities (PEM)",
  },
} as const;
