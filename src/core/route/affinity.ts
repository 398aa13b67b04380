import { keyOf } from "../model/object.ts";
import type { ServicePort } from "../model/service.ts";
import type { ServiceState } from "../store/state.ts";
import { type Eligible, keepOnly } from "./eligible.ts";
import type { Notes } from "./notes.ts";
import type { AffinityRecord, Observed } from "./observed.ts";

/** What the client is called by, for which service and port. */
interface Session {
  readonly state: ServiceState;
  readonly port: ServicePort;
  readonly client: string;
}

/** Leaves only the endpoint that the client is bound to, where it is and still can be used. */
export function keepAffinity(
  eligible: readonly Eligible[],
  session: Session,
  observed: Observed,
  notes: Notes,
): readonly Eligible[] {
  const { client } = session;
  const seconds = session.state.service.affinitySeconds;
  if (seconds === 0) return eligible;
  const record = lastOf(session, observed);
  if (record === undefined) {
    notes.because(`session affinity of ${seconds} s: ${client} is not bound to an endpoint yet`);
    return eligible;
  }
  const { endpoint, ageSeconds } = record;
  const bound = `session affinity of ${seconds} s: ${client} was sent to ${endpoint} ${ageSeconds} s ago`;
  if (ageSeconds >= seconds) {
    notes.because(`${bound}, which is over`);
    return eligible;
  }
  const isBound = (one: Eligible) => keyOf(one.endpoint) === endpoint;
  if (!eligible.some(isBound)) {
    notes.because(`${bound}, which can not be used now`);
    return eligible;
  }
  notes.because(`${bound} and stays there`);
  return keepOnly(eligible, isBound, notes, `session affinity keeps the client at ${endpoint}`);
}

function lastOf({ state, port, client }: Session, observed: Observed): AffinityRecord | undefined {
  return observed.affinity
    ?.filter((one) => one.service === state.key && one.port === port.name && one.client === client)
    .reduce<AffinityRecord | undefined>(
      (last, one) => (last !== undefined && last.ageSeconds <= one.ageSeconds ? last : one),
      undefined,
    );
}
