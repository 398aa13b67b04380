import { formatHostPort } from "../../core/model/address.ts";
import type { Protocol } from "../../core/model/common.ts";
import type { EdgeInstance } from "../../edge/table/live-instance.ts";
import type { EdgeService } from "../../edge/table/service-table.ts";

/** What is asked of a tunnel that runs. */
export interface LiveQuestion {
  readonly dst: string;
  readonly protocol: Protocol;
  readonly dstPort: number;
}

/** What it says. */
export interface LiveMeaning {
  readonly lines: readonly string[];
  /** Whom a new flow may come to, as `IP:PORT`; undefined where the address is no service's here. */
  readonly candidates: readonly string[] | undefined;
}

export interface LiveFacts {
  readonly nodeName: string;
  readonly services: readonly EdgeService[];
  /** By node; missing where none was measured yet. */
  readonly roundTripMs: ReadonlyMap<string, number>;
}

interface Reached {
  readonly instance: EdgeInstance;
  readonly at: string;
  readonly distanceMs: number;
}

/** Which instances an address means at this moment, by the table that the tunnel has. */
export function meaningNow(question: LiveQuestion, facts: LiveFacts): LiveMeaning {
  const { dst } = question;
  const service = facts.services.find(({ addresses }) =>
    addresses.some(({ address }) => address === dst),
  );
  const edge = service?.addresses.find(({ address }) => address === dst);
  if (service === undefined || edge === undefined) {
    return { lines: [`the tunnel knows no service with ${dst}`], candidates: undefined };
  }
  const all = service.instances.flatMap((instance) => reach(instance, question, facts));
  const meant = all.filter(
    ({ instance }) =>
      instance.weight > 0 && (edge.policy !== "instance" || instance.number === edge.instance),
  );
  const shortest = Math.min(...meant.map(({ distanceMs }) => distanceMs));
  const chosen =
    edge.policy === "closest" ? meant.filter((one) => one.distanceMs === shortest) : meant;
  const what = edge.policy === "instance" ? `instance ${edge.instance}` : edge.policy;
  return {
    lines: [
      `the tunnel: ${dst} is ${service.key}, ${what}, with ${service.instances.length} instances`,
      ...all.map((one) => lineOf(one, facts, chosen.includes(one))),
      ...(chosen.length === 0 ? ["nobody serves it: refused"] : []),
    ],
    candidates: chosen.map(({ at }) => at),
  };
}

function reach(
  instance: EdgeInstance,
  { dst, protocol, dstPort }: LiveQuestion,
  { nodeName, roundTripMs }: LiveFacts,
): readonly Reached[] {
  const isV6 = dst.includes(":");
  const ip = instance.addresses.find((address) => address.includes(":") === isV6);
  const { leads } = instance;
  const lead = leads?.find(
    (one) => one.port === dstPort && one.protocol.toUpperCase() === protocol,
  );
  const port = leads === undefined ? dstPort : lead?.target;
  if (ip === undefined || port === undefined) return [];
  const distanceMs = instance.node === nodeName ? 0 : (roundTripMs.get(instance.node) ?? Infinity);
  return [{ instance, at: formatHostPort(ip, port), distanceMs }];
}

function lineOf(
  { instance, at, distanceMs }: Reached,
  { nodeName }: LiveFacts,
  isChosen: boolean,
): string {
  const { number, node, weight } = instance;
  const where =
    node === nodeName
      ? "on this node"
      : `on ${node}, ${distanceMs === Infinity ? "not measured yet" : `${distanceMs.toFixed(2)} ms away`}`;
  const name = number < 0 ? "an instance" : `instance ${number}`;
  return `${isChosen ? "*" : "-"} ${name} at ${at}, ${where}, weight ${weight}`;
}
