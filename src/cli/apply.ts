import { CoreError } from "../core/errors.ts";
import type { ChangesResult } from "../daemon/instance-socket/state-protocol.ts";
import type { CommandInput, CommandSpec } from "./command-spec.ts";
import { keepApplied } from "./desired/keep-applied.ts";
import { readObjects } from "./desired/read-objects.ts";
import { renderChanges, summarize } from "./desired/render-changes.ts";
import {
  FILE_OPTION,
  requireFile,
  TARGET_GROUPS,
  withEtcdTarget,
  withTarget,
} from "./desired/state-options.ts";
import { EXIT_OK } from "./exit-codes.ts";
import { JSON_OPTION, resolveFlags } from "./flags.ts";
import { paintFor } from "./text/paint.ts";

const APPLY_OPTIONS = {
  prune: {
    kind: "boolean",
    help: "also delete what commands and earlier files made and this one does not have",
  },
  dryRun: { kind: "boolean", help: "show what would change and change nothing" },
  lease: {
    kind: "duration",
    placeholder: "TIME",
    help: "with etcd: stay, and keep endpoints and nodes of the file there only as long as this runs; so long after it vanished they go",
  },
} as const;

const MIN_LEASE_MS = 1000;
const MAX_LEASE_MS = 86_400_000;

export const APPLY: CommandSpec = {
  name: "apply",
  summary: "make the running instance, or an etcd, have what a state file describes",
  description:
    "Shows what changes, then changes it with the fewest changes, all or nothing. What it makes belongs to `control`, as what commands make; what another source has is refused by name.",
  arguments: [],
  optionGroups: [
    { title: "State", specs: { ...FILE_OPTION, ...APPLY_OPTIONS } },
    ...TARGET_GROUPS,
    { title: "Output", specs: JSON_OPTION },
  ],
  examples: [
    { help: "what a file says", command: "apply -f state.yaml" },
    { help: "that and nothing else, from a pipe", command: "apply -f - --prune" },
    { help: "only show it", command: "apply -f manifests/ --dry-run" },
    {
      help: "in etcd, for all that follow it; its endpoints as long as this runs",
      command: "apply --target etcd:127.0.0.1:2379 -f state.yaml --lease 10s",
    },
  ],
  run: apply,
};

async function apply(input: CommandInput): Promise<number> {
  const { context } = input;
  const options = resolveFlags({ ...FILE_OPTION, ...APPLY_OPTIONS }, input);
  const { json } = resolveFlags(JSON_OPTION, input);
  const { prune, dryRun, lease } = options;
  if (lease !== undefined) refuseLease(lease, prune);
  const objects = await readObjects(requireFile(options.file), options.maxFileBytes, context);
  if (lease !== undefined && !dryRun) {
    return withEtcdTarget(input, "--lease", (target) =>
      keepApplied({ target, objects, leaseMs: lease, json }, context),
    );
  }
  return withTarget(input, async (target) => {
    const ask = (isTrial: boolean): Promise<ChangesResult> =>
      target.apply({ objects, prune, dryRun: isTrial });
    if (json) {
      context.stdout.write(`${JSON.stringify({ dryRun, ...(await ask(dryRun)) })}\n`);
      return EXIT_OK;
    }
    const { changes } = await ask(true);
    context.stdout.write(renderChanges(changes, paintFor(context)));
    if (dryRun || changes.length === 0) return EXIT_OK;
    const applied = await ask(false);
    // Others may have changed something in between.
    if (summarize(applied.changes) !== summarize(changes)) {
      context.stdout.write(renderChanges(applied.changes, paintFor(context)));
    }
    const note = applied.note === undefined ? "" : `; ${applied.note}`;
    context.stdout.write(`applied, revision ${applied.revision}${note}\n`);
    return EXIT_OK;
  });
}

/** @throws CoreError ERR_USAGE */
function refuseLease(leaseMs: number, prune: boolean): void {
  if (prune) {
    throw new CoreError(
      "ERR_USAGE",
      "--lease and --prune: expected one; others have endpoints there too",
    );
  }
  if (leaseMs < MIN_LEASE_MS || leaseMs > MAX_LEASE_MS) {
    throw new CoreError("ERR_USAGE", `--lease: ${leaseMs} ms is not valid; expected 1s to 24h`);
  }
}
