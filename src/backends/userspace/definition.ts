import { FAMILIES } from "../../core/model/address.ts";
import { BALANCING_METHODS } from "../../core/model/group.ts";
import type { BackendDefinition } from "../backend.ts";
import type { Capabilities } from "../capabilities.ts";
import { USERSPACE_OPTIONS, USERSPACE_SETS } from "./options.ts";
import type { OpenRedirectOptions, Redirect } from "./redirect/redirect.ts";
import { tlsObstacleOf } from "./tls-obstacle.ts";

const CAPABILITIES: Capabilities = {
  addressTypes: ["external-ip", "load-balancer-ip", "node-port", "listen-address"],
  protocols: ["TCP", "UDP"],
  families: FAMILIES,
  affinity: "with-timeout",
  sourceRanges: true,
  // It is about cluster IPs alone, which there are only with --redirect.
  internalLocal: true,
  externalLocal: true,
  weights: true,
  methods: BALANCING_METHODS,
  requestHints: true,
  keepsSource: false,
};

/** With `--redirect` cluster IPs are served, too. */
export const REDIRECT_CAPABILITIES: Capabilities = {
  ...CAPABILITIES,
  addressTypes: ["cluster-ip", ...CAPABILITIES.addressTypes],
};

export const USERSPACE: BackendDefinition<typeof USERSPACE_OPTIONS> = {
  name: "userspace",
  summary: "a proxy in this process; needs no root",
  options: USERSPACE_OPTIONS,
  capabilities: CAPABILITIES,
  sets: USERSPACE_SETS,
  drainMs: ({ drainTimeout }) => drainTimeout,
  takesOver: ({ takeOver }) => takeOver,
  probe: async ({ os }) =>
    os === "linux"
      ? []
      : [
          {
            severity: "degraded",
            what: `the fast provider of sockets is not for ${os}`,
            remedy: "Node's own sockets are used; run on Linux for more speed",
          },
        ],
  create: async (options, context) => {
    const { createEngine } = await import("../../proxy/engine.ts");
    const { readMachineAddresses } = await import("./machine-addresses.ts");
    const { createUserspaceBackend } = await import("./userspace-backend.ts");
    const { availableParallelism } = await import("node:os");
    const { posixProblem } = await import("../../net/posix/posix-support.ts");
    const { readTunnelSettings } = await import("./read-tunnel-settings.ts");
    const problem = await posixProblem(process);
    const canRedirect = process.platform === "linux" && process.getuid?.() === 0;
    return createUserspaceBackend(options, context, {
      createEngine,
      machineAddresses: readMachineAddresses,
      cores: availableParallelism(),
      tlsObstacle: problem && tlsObstacleOf(problem),
      tunnels: await readTunnelSettings(options, process.env),
      ...(canRedirect && { openRedirect: await loadRedirect() }),
    });
  },
};

/** Only on Linux: what it imports calls the kernel. */
async function loadRedirect(): Promise<(options: OpenRedirectOptions) => Redirect> {
  const { openSystemRedirect } = await import("./redirect/system-redirect.ts");
  return openSystemRedirect;
}
