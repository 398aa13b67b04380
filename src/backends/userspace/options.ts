import type { SetName } from "../../core/view/ops.ts";

/** What it needs to know beyond services and endpoints. */
export const USERSPACE_SETS: readonly SetName[] = [
  "listeners",
  "groups",
  "nodes",
  "security-groups",
  "certificates",
];

export const USERSPACE_OPTIONS = {
  loops: {
    kind: "number",
    min: 1,
    max: 1024,
    help: "event loops; one for each processor core when not given",
  },
  stayAwake: {
    kind: "enum",
    values: ["auto", "off"],
    default: "auto",
    help: "auto: a loop that serves a single request at a time stays awake for up to 0.2 ms between its packets, for faster answers at the cost of processor time; off: it always sleeps",
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
  takeOver: {
    kind: "boolean",
    help: "take the place of what runs here: the listening sockets of the instance in the state folder, or the chains of a kube-proxy",
  },
  redirect: {
    kind: "boolean",
    help: "lead cluster IPs, and external IPs that this machine does not have, to the proxy by nftables; needs root",
  },
  redirectPort: {
    kind: "number",
    min: 1,
    max: 60_000,
    default: 26_000,
    help: "first of the local ports that redirected calls are led to",
  },
  kcpSecretFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with the secret of KCP tunnels, where groups or listeners use them; PORTOLAN_KCPTUN_SECRET says it as well",
  },
  kcpFast: {
    kind: "number",
    min: 1,
    max: 4,
    default: 4,
    help: "how eager KCP tunnels are, from 1 (sparing) to 4 (least delay)",
  },
  provider: {
    kind: "enum",
    values: ["auto", "posix", "node"],
    default: "auto",
    help: "posix: system calls of Linux; node: Node's own sockets; auto: posix where it works",
  },
} as const;
