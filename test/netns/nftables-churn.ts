import { readFileSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { FAMILIES, type Family, formatHostPort } from "../../src/core/model/address.ts";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import { nodeSchema } from "../../src/core/model/node.ts";
import { keyOf } from "../../src/core/model/object.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import { TOPOLOGY, type WorkloadName } from "../../src/core/route/scenarios/topology.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { BackendProcess } from "./backend-process.ts";
import type { CallOutcome } from "./call.ts";
import type { ChurnedService, ChurnSync } from "./endpoint-churn.ts";
import { parseGreeting } from "./greeting.ts";
import type { PartyName } from "./plan-network.ts";
import { Stage } from "./stage.ts";

const { workloads, nodes, outside, port } = TOPOLOGY;
const SEED = 20_261_115;
const SERVICES = 12;
const LEAST_CHANGES_A_SECOND = 1000;
/** A little more, so that the last sync does not count. */
const CHANGES_A_SECOND = 1100;
const LEAST_SYNCS = 50;
/** Calls that are under way at a time. */
const LANES = 24;
const FIRST_NODE_PORT = 30_200;
const FIRST_TARGET_PORT = 8100;
const MS_PER_SECOND = 1000;

const PARTIES: Readonly<Record<WorkloadName, PartyName>> = {
  "client-a": "client-a",
  "web-a": "web-a",
  "web-b": "node-b",
  "web-c": "node-c",
};
const WORKLOADS: readonly WorkloadName[] = ["client-a", "web-a", "web-b", "web-c"];

const NODE = nodeSchema.parse({
  kind: "Node",
  name: "node-a",
  addresses: FAMILIES.map((family) => nodes["node-a"].addresses[family]),
});

/** How clients call a service, and where that may lead. */
interface Way {
  readonly name: string;
  readonly service: number;
  readonly to: string;
  readonly port: number;
  readonly from: string;
  readonly isLocalOnly: boolean;
}

interface MadeCall {
  readonly way: Way;
  readonly beganNs: bigint;
  readonly endedNs: bigint;
  readonly outcome: CallOutcome;
}

function clusterIP(service: number, family: Family): string {
  return family === "v4" ? `10.96.1.${service}` : `fd00:96:1::${service}`;
}

function externalIP(service: number, family: Family): string {
  return family === "v4" ? `203.0.113.${100 + service}` : `2001:db8:e::${100 + service}`;
}

/** Every second one keeps calls from outside on this node. */
function isLocalOnly(service: number): boolean {
  return service % 2 === 0;
}

function churnedService(index: number): ChurnedService {
  const name = `s${index}`;
  return {
    service: serviceSchema.parse({
      kind: "Service",
      name,
      type: "NodePort",
      clusterIPs: FAMILIES.map((family) => clusterIP(index, family)),
      externalIPs: FAMILIES.map((family) => externalIP(index, family)),
      externalTrafficPolicy: isLocalOnly(index) ? "Local" : "Cluster",
      ports: [
        {
          name: "main",
          port,
          nodePort: FIRST_NODE_PORT + index,
          targetPort: FIRST_TARGET_PORT + index,
        },
      ],
    }),
    endpoints: WORKLOADS.map((workload) => {
      const { node, addresses } = workloads[workload];
      const own = { kind: "Endpoint", name: `${name}-${workload}`, group: name, node };
      const endpoint = endpointSchema.parse({ ...own, addresses: [addresses.v4, addresses.v6] });
      return { endpoint, isLocal: node === "node-a" };
    }),
  };
}

function waysOf(service: number, family: Family): readonly Way[] {
  const base = { service, port, from: outside[family], isLocalOnly: false };
  return [
    { ...base, name: `cluster IP, ${family}`, to: clusterIP(service, family) },
    {
      ...base,
      name: `node port, ${family}`,
      to: nodes["node-a"].addresses[family],
      port: FIRST_NODE_PORT + service,
      isLocalOnly: isLocalOnly(service),
    },
    {
      ...base,
      name: `external IP, ${family}`,
      to: externalIP(service, family),
      isLocalOnly: isLocalOnly(service),
    },
  ];
}

const SERVICE_NUMBERS = Array.from({ length: SERVICES }, (_, index) => index);
const CHURNED = SERVICE_NUMBERS.map(churnedService);
const WAYS = SERVICE_NUMBERS.flatMap((service) =>
  FAMILIES.flatMap((family) => waysOf(service, family)),
);

/** Who may answer a service: where, and the key of the endpoint. */
const PLACES: ReadonlyMap<
  string,
  { readonly service: number; readonly key: string; readonly isLocal: boolean }
> = new Map(
  CHURNED.flatMap(({ endpoints }, service) =>
    endpoints.flatMap(({ endpoint, isLocal }) =>
      endpoint.addresses.map(
        (ip) =>
          [
            formatHostPort(ip, FIRST_TARGET_PORT + service),
            { service, key: keyOf(endpoint), isLocal },
          ] as const,
      ),
    ),
  ),
);

function serveAll(stage: Stage): void {
  for (const workload of WORKLOADS) {
    for (const family of FAMILIES) {
      for (const service of SERVICE_NUMBERS) {
        const server = stage.serve({
          party: PARTIES[workload],
          protocol: "TCP",
          ip: workloads[workload].addresses[family],
          port: FIRST_TARGET_PORT + service,
        });
        if (server === undefined) throw new Error("somebody else serves there");
      }
    }
  }
}

/** Calls by lot until it is told to stop. */
async function keepCalling(
  stage: Stage,
  random: () => number,
  isOver: () => boolean,
): Promise<readonly MadeCall[]> {
  const made: MadeCall[] = [];
  while (!isOver()) {
    const way = WAYS[Math.floor(random() * WAYS.length)];
    if (way === undefined) throw new Error("no way to call");
    const { to, port: on, from } = way;
    const beganNs = process.hrtime.bigint();
    const [outcome] = await stage.call([{ party: "outside", protocol: "TCP", from, to, port: on }]);
    if (outcome === undefined) throw new Error("nothing was called");
    made.push({ way, beganNs, endedNs: process.hrtime.bigint(), outcome });
  }
  return made;
}

/** When an endpoint was valid: from the sync that brought it to the end of the one that took it. */
interface Span {
  readonly fromNs: bigint;
  readonly toNs: bigint;
}

const FOREVER_NS = 2n ** 63n;

function spansOf(syncs: readonly ChurnSync[]): ReadonlyMap<string, readonly Span[]> {
  const spans = new Map<string, Span[]>();
  for (const { key } of PLACES.values()) spans.set(key, [{ fromNs: 0n, toNs: FOREVER_NS }]);
  for (const { beganNs, endedNs, came, went } of syncs) {
    for (const key of came) spans.get(key)?.push({ fromNs: beganNs, toNs: FOREVER_NS });
    for (const key of went) {
      const last = spans.get(key)?.pop();
      if (last !== undefined) spans.get(key)?.push({ ...last, toNs: endedNs });
    }
  }
  return spans;
}

/** What is wrong with a call, in words; undefined where nothing is. */
function faultOf(call: MadeCall, spans: ReadonlyMap<string, readonly Span[]>): string | undefined {
  const { way, outcome, beganNs, endedNs } = call;
  const what = `${way.name} of service ${way.service}`;
  if (outcome.kind !== "answered") return `${what}: ${outcome.kind}`;
  const { at, port: on } = parseGreeting(outcome.text);
  const place = PLACES.get(formatHostPort(at, on));
  if (place === undefined || place.service !== way.service) return `${what}: led to ${at}:${on}`;
  if (way.isLocalOnly && !place.isLocal) return `${what}: led to another node, ${at}:${on}`;
  const isValid = spans
    .get(place.key)
    ?.some(({ fromNs, toNs }) => fromNs <= endedNs && beganNs <= toNs);
  return isValid === true ? undefined : `${what}: led to ${at}:${on}, which was gone`;
}

/** Of the node's table of tracked flows. */
function settingOf(stage: Stage, name: string): number {
  return stage.network.inside("node-a", () =>
    Number(readFileSync(`/proc/sys/net/netfilter/${name}`, "utf8")),
  );
}

/** Counts first packets before all rules of the node, and behind them. */
const WATCH = `table inet watched {
  counter came { }
  counter left { }
  chain before {
    type filter hook prerouting priority -300;
    tcp flags & (syn | ack) == syn counter name came
  }
  chain behind {
    type filter hook postrouting priority 300;
    tcp flags & (syn | ack) == syn counter name left
  }
}
`;

function firstPackets(stage: Stage, counter: "came" | "left"): number {
  const text = stage.network.exec("node-a", "nft", ["list", "counter", "inet", "watched", counter]);
  return Number(/packets (\d+)/.exec(text)?.[1]);
}

/** @param durationMs how long endpoints come and go */
export function describeChurn(durationMs: number): void {
  test(
    `for ${durationMs / MS_PER_SECOND} s of 1,000 changes a second, nobody is refused or sent astray`,
    async () => {
      const stage = Stage.open();
      const backend = new BackendProcess(stage.network);
      onTestFinished(async () => {
        await backend.close();
        stage.close();
      });
      serveAll(stage);
      stage.network.exec("node-a", "nft", ["-f", "-"], WATCH);
      await backend.start("nftables", {});
      const objects = CHURNED.flatMap(({ service, endpoints }) => [
        service,
        ...endpoints.map(({ endpoint }) => endpoint),
      ]);
      await backend.apply([NODE, ...objects]);

      const random = seededRandom(SEED);
      let isOver = false;
      const lanes = Array.from({ length: LANES }, () => keepCalling(stage, random, () => isOver));
      const { changes, elapsedMs, syncs } = await backend
        .churn({
          seed: SEED,
          durationMs,
          leastSyncs: LEAST_SYNCS,
          changesPerSecond: CHANGES_A_SECOND,
          services: CHURNED,
        })
        .finally(() => {
          isOver = true;
        });
      const calls = (await Promise.all(lanes)).flat();

      // Where it is full the kernel drops first packets, whatever the rules say.
      expect(settingOf(stage, "nf_conntrack_count")).toBeLessThan(
        settingOf(stage, "nf_conntrack_max"),
      );
      // A caller whose first packet is lost sends it again, and notices nothing but a second's delay.
      expect(firstPackets(stage, "came")).toBeGreaterThanOrEqual(calls.length);
      expect(firstPackets(stage, "left")).toBe(firstPackets(stage, "came"));
      const spans = spansOf(syncs);
      const faults = calls.map((call) => faultOf(call, spans)).filter((one) => one !== undefined);
      expect(faults).toEqual([]);
      expect(changes / (elapsedMs / MS_PER_SECOND)).toBeGreaterThanOrEqual(LEAST_CHANGES_A_SECOND);
      const names = new Set(WAYS.map(({ name }) => name));
      expect(new Set(calls.map(({ way }) => way.name))).toEqual(names);
    },
    durationMs + 60_000,
  );
}
