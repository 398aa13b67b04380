import process from "node:process";
import { backoffMs, DEFAULT_BACKOFF } from "../../core/backoff.ts";
import { CoreError } from "../../core/errors.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { Lease } from "../../engines/etcd/lease.ts";
import type { CliContext } from "../command-spec.ts";
import { listenForInterruption } from "../interruption.ts";
import { paintFor } from "../text/paint.ts";
import type { EtcdStateTarget } from "./etcd-target.ts";
import { renderChanges } from "./render-changes.ts";

export interface KeepParams {
  readonly target: EtcdStateTarget;
  readonly objects: readonly ModelObject[];
  readonly leaseMs: number;
  readonly json: boolean;
}

const MS_PER_SECOND = 1000;

/**
 * Applies the objects, endpoints and nodes bound to a lease, and stays until it is ended: then they go. Where the
 * lease is lost meanwhile they are made again as soon as etcd answers.
 * @returns the exit code
 */
export async function keepApplied(params: KeepParams, context: CliContext): Promise<number> {
  const interruption = listenForInterruption(process, context.stdout);
  const { signal } = interruption;
  const ended = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true });
  });
  try {
    let failures = 0;
    for (let isFirst = true; ; isFirst = false) {
      const lost = await holdOnce(params, context, ended).catch((error: unknown) => {
        if (isFirst || !(error instanceof CoreError)) throw error;
        return error;
      });
      if (lost === undefined) return interruption.exitCode();
      failures = lost.code === "ERR_LEASE_LOST" ? 0 : failures + 1;
      context.stderr.write(`portolan: note: ${lost.message}; it is tried again\n`);
      const waitMs = failures === 0 ? 0 : backoffMs(DEFAULT_BACKOFF, failures, Math.random());
      await Promise.race([ended, params.target.client.sleep(waitMs)]);
      if (signal.aborted) return interruption.exitCode();
    }
  } finally {
    interruption.dispose();
  }
}

/** @returns why the lease is lost; undefined where it was ended on purpose */
async function holdOnce(
  { target, objects, leaseMs, json }: KeepParams,
  context: CliContext,
  ended: Promise<undefined>,
): Promise<CoreError | undefined> {
  const lease = await Lease.grant(target.client, Math.ceil(leaseMs / MS_PER_SECOND));
  try {
    const result = await target.applyLeased(objects, lease.id);
    context.stdout.write(
      json
        ? `${JSON.stringify({ dryRun: false, ...result })}\n`
        : `${renderChanges(result.changes, paintFor(context))}applied, revision ${result.revision}; kept until this ends\n`,
    );
    const lost = lease.lost.catch((error: unknown) => {
      if (error instanceof CoreError) return error;
      throw error;
    });
    return await Promise.race([ended, lost]);
  } finally {
    // Where etcd does not answer now, it ends by itself.
    await lease.revoke().catch(() => undefined);
  }
}
