import type { SetName } from "../../core/view/ops.ts";

/** What it needs to know beyond services and endpoints. */
export const USERSPACE_SETS: readonly SetName[] = [
  "listeners",
  "groups",
  "nodes",
  "security-groups",
];

export const USERSPACE_OPTIONS = {
  loops: {
    kind: "number",
    min: 1,
    max: 1024,
    help: "event loops; one for each processor core when not given",
  },
  drainTimeout: {
    kind: "duration",
    default: "30s",
    help: "how long open connections may go on when the program ends",
  },
  nodeportAddresses: {
    kind: "string",
    placeholder: "WHICH",
    suggestions: ["primary", "all", "localhost"],
    default: "primary",
    help: "where node ports answer: primary, all, localhost, or networks separated by commas",
  },
  provider: {
    kind: "enum",
    values: ["auto", "posix", "node"],
    default: "auto",
    help: "posix: system calls of Linux; node: Node's own sockets; auto: posix where it works",
  },
} as const;
