/** What `manager token create` takes. */
export const TOKEN_OPTIONS = {
  lifetime: { kind: "duration", default: "24h", help: "how long nodes may join with it" },
  uses: {
    kind: "number",
    min: 1,
    max: 1_000_000,
    help: "how many nodes may join with it; any number when not given",
  },
  service: {
    kind: "string",
    placeholder: "NAME",
    default: "",
    help: "it is for the identity of this service (NAME or NAMESPACE/NAME), not for nodes",
  },
  note: { kind: "string", placeholder: "TEXT", default: "", help: "what it is for, for people" },
} as const;
