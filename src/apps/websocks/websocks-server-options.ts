/** What `websocks server` is told. */
export const WEBSOCKS_SERVER_OPTIONS = {
  listen: { kind: "address", help: "where agents call" },
  user: { kind: "string", placeholder: "NAME", help: "who may come, with the password" },
  usersFile: {
    kind: "string",
    placeholder: "FILE",
    help: "several users: a file of name:password lines; read again when it changes",
  },
  passwordFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with the password of --user; PORTOLAN_WEBSOCKS_PASSWORD says it as well",
  },
  target: {
    kind: "list",
    placeholder: "RULE",
    help: 'a rule such as "deny 10.0.0.0/8", "allow *.example.com:443" or "deny *"; the first that fits decides, and where none does the target may be reached; may be repeated',
  },
  webRoot: {
    kind: "string",
    placeholder: "FOLDER",
    help: "the pages that everybody else sees; read at the start",
  },
  tlsCert: {
    kind: "list",
    placeholder: "FILE",
    help: "agents speak TLS (wss://); certificate and chain (PEM); may be repeated",
  },
  tlsKey: {
    kind: "list",
    placeholder: "FILE",
    help: "private key (PEM) of each --tls-cert, in the same order; both are read again when they change",
  },
} as const;
