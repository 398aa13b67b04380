/** What `websocks agent` is told. */
export const WEBSOCKS_AGENT_OPTIONS = {
  listen: { kind: "address", help: "where programs call, by SOCKS5 or as an HTTP proxy" },
  server: {
    kind: "list",
    placeholder: "ws[s]://NAME@HOST:PORT",
    help: "a server of the tunnel, which is checked and balanced to; may be repeated",
  },
  passwordFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with the password; PORTOLAN_WEBSOCKS_PASSWORD says it as well",
  },
  ca: {
    kind: "string",
    placeholder: "FILE",
    help: "authorities (PEM) that certificates of wss:// servers must be from; those of the system when not given",
  },
  rule: {
    kind: "list",
    placeholder: "RULE",
    help: 'a rule such as "direct .local", "block ads.example" or "tunnel *"; the first that fits decides, and where none does it is the tunnel; may be repeated',
  },
  pool: {
    kind: "number",
    min: 0,
    max: 256,
    default: 4,
    help: "so many connections to each server are kept ready by each event loop",
  },
} as const;
