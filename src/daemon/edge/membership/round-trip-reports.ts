import * as z from "zod";
import { ManagerClient } from "../../../brain/manager/client/manager-client.ts";
import { membershipFiles } from "../../../brain/manager/client/node-membership.ts";
import { MAX_ROUND_TRIPS, type NodeRoundTrips } from "../../../brain/manager/messages.ts";
import { abortable } from "../../../core/abortable.ts";
import type { ListenAddress } from "../../../core/options/listen-address.ts";
import type { NodeRow } from "../../../edge/environment/route-table.ts";

/** As often as tunnels measure. */
const TELL_EVERY_MS = 5000;
const ANSWER_MS = 1500;

const answerSchema: z.ZodType<{ readonly roundTrips: readonly NodeRoundTrips[] }> = z.object({
  roundTrips: z.array(
    z.object({ node: z.string(), ageMs: z.number(), toMs: z.record(z.string(), z.number()) }),
  ),
});

/** What a node tells its manager of how far others are, with some of its renewals. */
export class RoundTripReports {
  readonly #measure: () => Promise<readonly Pick<NodeRow, "name" | "roundTripMs">[]>;
  readonly #nowMs: () => number;
  #toldMs = Number.NEGATIVE_INFINITY;

  constructor(
    measure: () => Promise<readonly Pick<NodeRow, "name" | "roundTripMs">[]>,
    nowMs: () => number,
  ) {
    this.#measure = measure;
    this.#nowMs = nowMs;
  }

  /** Fields for a renewal; none where there is nothing to tell now. */
  async next(): Promise<{ readonly roundTripsMs?: Readonly<Record<string, number>> }> {
    if (this.#nowMs() - this.#toldMs < TELL_EVERY_MS) return {};
    const roundTripsMs = nearest(await this.#measure().catch(() => []));
    if (Object.keys(roundTripsMs).length === 0) return {};
    this.#toldMs = this.#nowMs();
    return { roundTripsMs };
  }

  /** Another manager is asked from now on, which knows nothing of it. */
  repeat(): void {
    this.#toldMs = Number.NEGATIVE_INFINITY;
  }
}

function nearest(
  rows: readonly Pick<NodeRow, "name" | "roundTripMs">[],
): Readonly<Record<string, number>> {
  const measured = rows.flatMap(({ name, roundTripMs }) =>
    roundTripMs === null ? [] : [[name, roundTripMs] as const],
  );
  const sorted = measured.sort(([, a], [, b]) => a - b).slice(0, MAX_ROUND_TRIPS);
  return Object.fromEntries(sorted);
}

/** What all managers were told, as each node tells one of them; who does not answer soon is left out. */
export async function askRoundTrips(
  managers: readonly ListenAddress[],
  folder: string,
): Promise<readonly NodeRoundTrips[]> {
  const answers = await Promise.all(
    managers.map((address) => askOne(address, folder).catch(() => [])),
  );
  const latest = new Map<string, NodeRoundTrips>();
  for (const row of answers.flat()) {
    const other = latest.get(row.node);
    if (other === undefined || row.ageMs < other.ageMs) latest.set(row.node, row);
  }
  return [...latest.values()];
}

async function askOne(address: ListenAddress, folder: string): Promise<readonly NodeRoundTrips[]> {
  const signal = AbortSignal.timeout(ANSWER_MS);
  const connecting = ManagerClient.connect({ address, tls: membershipFiles(folder) });
  try {
    const client = await abortable(connecting, signal);
    return answerSchema.parse(await abortable(client.call("RoundTrips", {}), signal)).roundTrips;
  } finally {
    void connecting.then(
      (client) => client.close(),
      () => undefined,
    );
  }
}
