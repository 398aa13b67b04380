import { formatHostPort } from "../core/model/address.ts";
import type { Expected, ExpectedEndpoint, Scenario } from "../core/route/scenarios/scenario.ts";

/** What became of one packet. */
export type Observation =
  /** It arrived: where, and with which source address. */
  | {
      readonly kind: "arrived";
      readonly address: string;
      readonly port: number;
      readonly source: string;
    }
  /** The sender was told that nobody answers. */
  | { readonly kind: "rejected" }
  /** Nothing came back, and it arrived nowhere. */
  | { readonly kind: "dropped" }
  /** It went its way as if there were no services. */
  | { readonly kind: "untouched" };

/** Plays scenarios on a data plane, in the network that `TOPOLOGY` describes. */
export interface ContractDriver {
  /**
   * Makes the data plane match the scenario: its objects, its policy, and what was observed before. (A
   * client gets bound to an endpoint by applying a state with only that endpoint, and calling once.)
   */
  prepare(scenario: Scenario): Promise<void>;
  /**
   * Sends the scenario's packet as a connection of its own. What the scenario observed holds for each
   * of them: a client without a history has none at the next call either.
   */
  send(scenario: Scenario): Promise<Observation>;
  /** The same so many times at once, where that is quicker than one after the other. */
  sendMany?(scenario: Scenario, count: number): Promise<readonly Observation[]>;
  close(): Promise<void>;
}

/** How rarely a data plane that does its part may be taken for wrong. */
const FALSE_ALARM = 1e-9;
/** So that who ignores affinity or a policy is not taken for right by luck. */
const FEWEST_PACKETS = 16;
/** Enough to tell a quarter from a half, with the tolerance below, without a false alarm. */
const SHARE_PACKETS = 500;
/** So many standard deviations beside its share a data plane may be: more is as rare as a false alarm. */
const SHARE_DEVIATIONS = 6.1;

const WITHOUT_ENDPOINT = { reject: "rejected", drop: "dropped", "not-ours": "untouched" } as const;

type Endpoints = readonly ExpectedEndpoint[];

/** Plays one scenario; returns how it came out otherwise than expected, or undefined. */
export async function judgeScenario(
  scenario: Scenario,
  driver: ContractDriver,
): Promise<string | undefined> {
  await driver.prepare(scenario);
  const { expected } = scenario;
  if (expected.kind === "endpoints") return judgeEndpoints(scenario, expected.endpoints, driver);
  const seen = await driver.send(scenario);
  return seen.kind === WITHOUT_ENDPOINT[expected.kind] ? undefined : complain(expected, seen);
}

async function judgeEndpoints(
  scenario: Scenario,
  endpoints: Endpoints,
  driver: ContractDriver,
): Promise<string | undefined> {
  const arrivals = new Map<ExpectedEndpoint, number>();
  const { fewest, most } = packetsFor(endpoints);
  let sent = 0;
  while (sent < fewest || (sent < most && arrivals.size < endpoints.length)) {
    const observations = await sendSome(scenario, driver, Math.min(FEWEST_PACKETS, most - sent));
    sent += observations.length;
    for (const seen of observations) {
      const endpoint = endpoints.find((one) => isArrivalAt(one, seen, scenario.packet.src));
      if (endpoint === undefined) return complain(scenario.expected, seen);
      arrivals.set(endpoint, (arrivals.get(endpoint) ?? 0) + 1);
    }
  }
  for (const endpoint of endpoints) {
    const share = (arrivals.get(endpoint) ?? 0) / sent;
    const isFarOff =
      isUneven(endpoints) &&
      Math.abs(share - endpoint.probability) > shareTolerance(endpoint.probability, sent);
    if (share === 0 || isFarOff) {
      return `expected a share of ${endpoint.probability} for ${nameOf(endpoint)}, but it got ${share} of ${sent} packets`;
    }
  }
  return undefined;
}

/** How far the share of so many packets may be from a probability by chance. */
export function shareTolerance(probability: number, packets: number): number {
  return SHARE_DEVIATIONS * Math.sqrt((probability * (1 - probability)) / packets);
}

/** As many as the driver sends at once. */
async function sendSome(
  scenario: Scenario,
  driver: ContractDriver,
  most: number,
): Promise<readonly Observation[]> {
  return driver.sendMany?.(scenario, most) ?? [await driver.send(scenario)];
}

function packetsFor(endpoints: Endpoints): { readonly fewest: number; readonly most: number } {
  if (isUneven(endpoints)) return { fewest: SHARE_PACKETS, most: SHARE_PACKETS };
  if (endpoints.length === 1) return { fewest: FEWEST_PACKETS, most: FEWEST_PACKETS };
  const missed = 1 - 1 / endpoints.length;
  const most = Math.ceil(Math.log(FALSE_ALARM / endpoints.length) / Math.log(missed));
  return { fewest: FEWEST_PACKETS, most };
}

function isUneven(endpoints: Endpoints): boolean {
  return endpoints.some(({ probability }) => probability !== endpoints[0]?.probability);
}

function isArrivalAt(endpoint: ExpectedEndpoint, seen: Observation, src: string): boolean {
  return (
    seen.kind === "arrived" &&
    seen.address === endpoint.address &&
    seen.port === endpoint.targetPort &&
    (seen.source !== src) === endpoint.masquerade
  );
}

function complain(expected: Expected, seen: Observation): string {
  const wanted =
    expected.kind === "endpoints"
      ? `arrived at ${expected.endpoints.map(nameOf).join(" or ")}`
      : WITHOUT_ENDPOINT[expected.kind];
  const got =
    seen.kind === "arrived"
      ? `arrived at ${formatHostPort(seen.address, seen.port)} with source ${seen.source}`
      : seen.kind;
  return `expected: ${wanted}; seen: ${got}`;
}

function nameOf({ address, targetPort, masquerade }: ExpectedEndpoint): string {
  const source = masquerade ? "masqueraded" : "source kept";
  return `${formatHostPort(address, targetPort)} (${source})`;
}
