export const PRINT_OPTIONS = {
  format: {
    kind: "enum",
    values: ["ops", "brief", "yaml", "json"],
    default: "ops",
    help: "ops: a line for each operation; brief: the same in short, for people; yaml, json: the whole state at each sync",
  },
  printOutput: {
    kind: "string",
    placeholder: "FILE",
    default: "-",
    help: "where to print; - is standard output",
  },
} as const;
