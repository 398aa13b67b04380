/** What delegates need, and who this instance is for others. */
export const MESH_OPTIONS = {
  announceTtl: {
    kind: "duration",
    default: "15s",
    help: "what this instance announced to others goes so long after it died",
  },
  identityFrom: {
    kind: "address",
    help: "the manager that gives this instance the identity of a service; what it gives is also shown to --from api:",
  },
  identityService: {
    kind: "string",
    placeholder: "NAME",
    help: "the service whose identity it is: NAME or NAMESPACE/NAME",
  },
  identityTokenFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with a token of portolan manager token create --service NAME; nobody else should be able to read it",
  },
} as const;
