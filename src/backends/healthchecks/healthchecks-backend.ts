import type { ValuesOf } from "../../core/options/option-spec.ts";
import { nodePortAddressesOf } from "../../core/route/policy-options.ts";
import { createFullStateSink, type FullState } from "../../core/sinks/fullstate.ts";
import type { Backend, BackendContext } from "../backend.ts";
import { HealthPorts, type StartHealthServer } from "./health-ports.ts";
import { type HEALTHCHECKS_OPTIONS, HEALTHCHECKS_SETS } from "./options.ts";
import { type HealthPlan, planHealthChecks } from "./plan-health-checks.ts";

/** What the backend takes from the world; tests give their own. */
export interface HealthchecksWorld {
  readonly startServer: StartHealthServer;
}

/** A port that could not be listened on is tried again after that time. */
const RETRY_MS = 5000;

const NOTHING_YET: HealthPlan = { addresses: [], checks: new Map(), notHonoured: [] };

/** @throws CoreError ERR_USAGE */
export async function createHealthchecksBackend(
  options: ValuesOf<typeof HEALTHCHECKS_OPTIONS>,
  { nodeName, log, health }: BackendContext,
  { startServer }: HealthchecksWorld,
): Promise<Backend> {
  const which = nodePortAddressesOf(options.nodeportAddresses);
  const isProxyHealthy = (): boolean => health?.isHealthy() ?? true;
  const ports = new HealthPorts(NOTHING_YET, { startServer, isProxyHealthy, log });
  let plan = NOTHING_YET;
  let retry: NodeJS.Timeout | undefined;
  let last: Promise<void> = Promise.resolve();

  const follow = (): Promise<void> => {
    last = last.then(() => ports.follow(plan)).then(retryLater);
    return last;
  };
  const retryLater = (): void => {
    clearTimeout(retry);
    if (ports.failures().length === 0) return;
    retry = setTimeout(() => void follow(), RETRY_MS);
    retry.unref();
  };
  const apply = (state: FullState): Promise<void> => {
    plan = planHealthChecks(state, nodeName, which);
    return follow();
  };
  return {
    sink: createFullStateSink({
      waitRequest: () => ({ nodeName, sets: HEALTHCHECKS_SETS }),
      apply,
    }),
    status: () => ({
      summary: `${plan.checks.size} health-check node ports on ${ports.count()} sockets`,
      notHonoured: [...plan.notHonoured, ...ports.failures()],
    }),
    drain: async () => undefined,
    // Sockets end with the process: nothing is left behind that could be removed.
    cleanup: async () => undefined,
    close: async () => {
      plan = NOTHING_YET;
      await follow();
    },
  };
}
