import type { Reporter } from "../../core/status/status-board.ts";
import { IdentityKeeper } from "../../mesh/identity-keeper.ts";
import type { Closers } from "../closers.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import type { Metrics } from "../metrics.ts";
import type { Succession } from "../succession.ts";
import type { IdentityConfig } from "./identity-config.ts";

/** Has this instance an identity before its sources begin, which may have to show it. */
export async function openIdentity(
  config: IdentityConfig,
  {
    deps,
    report,
    metrics,
    closers,
    succession,
  }: {
    readonly deps: InstanceDeps;
    readonly report: Reporter;
    readonly metrics: Pick<Metrics, "watchPart">;
    readonly closers: Closers;
    readonly succession: Pick<Succession, "addStandstill">;
  },
): Promise<void> {
  const { random, sleep, nowMs } = deps;
  const keeper = new IdentityKeeper({
    ...config,
    random,
    sleep,
    nowMs,
    tell: ({ expiresMs, problem }) => {
      const who = `service ${config.service}`;
      const until = new Date(expiresMs).toISOString();
      if (expiresMs <= nowMs()) report.failed(`${who} has no certificate: ${problem}`);
      else if (problem !== "") report.degraded(`${who} until ${until}; not renewed: ${problem}`);
      else report.ok(`${who} until ${until}`);
    },
  });
  metrics.watchPart("server", "identity", () => keeper.metrics());
  closers.add("identity", () => keeper.close());
  const started = keeper.start();
  // The files are the next process's from when it asks, and this one's again where it does not take over.
  await succession.addStandstill({
    begin: () => keeper.close(),
    end: () => void keeper.start(),
  });
  await started;
}
