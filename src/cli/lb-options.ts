import { BALANCING_METHODS } from "../core/model/group.ts";

/** What `lb` balances, and how. */
export const LB_OPTIONS = {
  listen: { kind: "address", help: "where clients call" },
  servers: {
    kind: "list",
    placeholder: "HOST:PORT[,...]",
    help: "the servers to balance to, separated by commas; may be repeated",
  },
  method: {
    kind: "enum",
    // Its type has to be said where declarations are made file by file.
    values: BALANCING_METHODS as typeof BALANCING_METHODS,
    default: "weighted-round-robin",
    help: "how a server is chosen",
  },
  protocol: {
    kind: "enum",
    values: ["tcp", "udp", "http"],
    default: "tcp",
    help: "tcp, udp: bytes and datagrams as they are; http: requests of a connection one by one",
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
} as const;
