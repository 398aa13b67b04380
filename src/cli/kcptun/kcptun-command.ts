import type { TunnelEnd } from "../../apps/kcptun/kcptun-objects.ts";
import { USERSPACE_OPTIONS } from "../../backends/userspace/options.ts";
import { INSTANCE_OPTIONS, LOG_OPTIONS } from "../../daemon/options.ts";
import type { CommandSpec, Example } from "../command-spec.ts";
import { resolveFlags } from "../flags.ts";
import { runKcptun } from "./run-kcptun.ts";

/** In what the two ends of a tunnel differ, as commands. */
export interface KcptunEnd {
  readonly role: TunnelEnd["role"];
  readonly summary: string;
  readonly description: string;
  readonly listenHelp: string;
  /** The option that says where this end leads to. */
  readonly to: { readonly name: "target" | "server"; readonly help: string };
  readonly examples: readonly Example[];
}

const { state, metricsListen, healthListen, dryRun, json } = INSTANCE_OPTIONS;
const { loops, stayAwake, drainTimeout, provider } = USERSPACE_OPTIONS;

const TUNNEL_OPTIONS = {
  secretFile: {
    kind: "string",
    placeholder: "FILE",
    help: "a file with the secret, the same at both ends; PORTOLAN_KCPTUN_SECRET says it as well",
  },
  fast: {
    kind: "number",
    min: 1,
    max: 4,
    default: 4,
    help: "how eager this end is: 1 (sparing) to 4 (least delay)",
  },
} as const;

/** The command of one end of tunnels. */
export function kcptunCommand(end: KcptunEnd): CommandSpec {
  const listen = { kind: "address", help: end.listenHelp } as const;
  const to = { kind: "string", placeholder: "HOST:PORT", help: end.to.help } as const;
  return {
    name: `kcptun ${end.role}`,
    summary: end.summary,
    description: `${end.description} Needs no root. See docs/kcptun.md.`,
    arguments: [],
    optionGroups: [
      { title: "Tunnel", specs: { listen, [end.to.name]: to, ...TUNNEL_OPTIONS } },
      { title: "Proxy", specs: { loops, stayAwake, drainTimeout, provider } },
      { title: "This instance", specs: { state, metricsListen, healthListen, dryRun, json } },
      { title: "Logs", specs: LOG_OPTIONS },
    ],
    examples: end.examples,
    run: (input) => {
      const values = resolveFlags({ listen, ...TUNNEL_OPTIONS }, input);
      const place = resolveFlags({ [end.to.name]: to }, input)[end.to.name];
      const { role } = end;
      return runKcptun({ ...values, role, to: [`--${end.to.name}`, place] }, input);
    },
  };
}
