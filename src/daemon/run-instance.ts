import { CoreError, messageOf } from "../core/errors.ts";
import type { InstanceConfig } from "./config.ts";
import type { EndListener, EndRequest } from "./end-requests.ts";
import { type Instance, startInstance } from "./instance.ts";
import type { InstanceDeps } from "./instance-deps.ts";
import type { ServiceNotifier } from "./service-notifier.ts";
import { takesOver } from "./succession.ts";

/** A clean end that takes longer, beside the draining of backends, is not waited for. */
const STOP_GRACE_MS = 10_000;
const EXIT_FAILED = 1;

export interface RunResult {
  readonly exitCode: number;
  /** False where something did not end in time: only the end of the process ends it. */
  readonly isClean: boolean;
}

export interface RunOptions {
  /** It ends where the first state can not be applied; otherwise that is tried again and again. */
  readonly endsOnFirstFailure?: boolean;
  /** Told when it is up, and when it ends. */
  readonly notifier?: ServiceNotifier;
  /** Called when it is up. */
  readonly onUp?: (instance: Instance) => void;
}

/** Runs until it is asked to end, or with `once` until the first state is applied. */
export async function runInstance(
  config: InstanceConfig,
  deps: InstanceDeps,
  end: EndListener,
  options: RunOptions = {},
): Promise<RunResult> {
  const { log } = deps;
  const { endsOnFirstFailure = false, notifier } = options;
  const instance = await startInstance(config, deps);
  tellUp(instance, options);
  const unwatch = notifier?.watch(() => instance.isLive());
  const replaced = { reason: "another process has taken over", exitCode: 0 };
  const shutDown = { reason: "a command asked for it", exitCode: 0 };
  let failure: { readonly error: unknown } | undefined;
  const reasons: Promise<EndRequest>[] = [
    end.asked,
    instance.replaced.then(() => replaced),
    instance.ended.then(() => shutDown),
    instance.failed.catch((error: unknown) => {
      failure = { error };
      return { reason: messageOf(error), exitCode: EXIT_FAILED };
    }),
  ];
  if (config.values.once) {
    const applied = { reason: "the first state is applied", exitCode: 0 };
    const notApplied = (error: unknown): EndRequest => {
      if (isMistake(error)) failure = { error };
      return describeFailure(error);
    };
    reasons.push(instance.applied.then(() => applied, notApplied));
  } else if (endsOnFirstFailure || takesOver(config)) {
    reasons.push(firstFailure(instance));
  }
  const { reason, exitCode } = await Promise.race(reasons);
  log.info({ reason }, "ending");
  unwatch?.();
  notifier?.stopping();
  const grace = new AbortController();
  const graceMs = STOP_GRACE_MS + longestDrainMs(config);
  const tooLate = deps.sleep(graceMs, grace.signal).then(
    () => true,
    () => false,
  );
  const isLate = await Promise.race([instance.stop().then(() => false), tooLate]);
  grace.abort();
  if (isLate) log.warn({ graceMs }, "not everything ended in time");
  if (failure !== undefined) throw failure.error;
  return { exitCode, isClean: !isLate };
}

/** Where it never is, another promise of it says so. */
function tellUp(instance: Instance, { notifier, onUp }: RunOptions): void {
  instance.up.then(
    () => {
      notifier?.ready();
      onUp?.(instance);
    },
    () => undefined,
  );
}

function longestDrainMs({ backends }: InstanceConfig): number {
  const times = backends.map(({ definition, options }) => definition.drainMs?.(options) ?? 0);
  return Math.max(0, ...times);
}

/** Never settles where there is none. */
function firstFailure({ applied }: Instance): Promise<EndRequest> {
  return new Promise((resolve) => {
    applied.catch((error: unknown) => resolve(describeFailure(error)));
  });
}

/** What is wrong with the configuration, and not with the world. */
function isMistake(error: unknown): boolean {
  return error instanceof CoreError && error.code === "ERR_CONFIG_INVALID";
}

function describeFailure(error: unknown): EndRequest {
  const reason = `the first state was not applied: ${messageOf(error)}`;
  return { reason, exitCode: EXIT_FAILED };
}
