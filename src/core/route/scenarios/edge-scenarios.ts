import { FAMILIES, type Family } from "../../model/address.ts";
import type { Protocol } from "../../model/common.ts";
import type { EdgePolicy } from "../../model/service.ts";
import type { Observed } from "../observed.ts";
import { buildScenario } from "./build.ts";
import { CALLERS, type Caller } from "./caller.ts";
import { expectShares } from "./expect.ts";
import { SPREAD } from "./product.ts";
import type { Expected, Scenario } from "./scenario.ts";
import type { Server } from "./setting.ts";
import type { NodeName, WorkloadName } from "./topology.ts";

/** An edge address, its instances, and which of them it means: written by hand. */
interface Row {
  readonly name: string;
  readonly policy: EdgePolicy;
  readonly instance?: number;
  readonly servers: readonly Server[];
  readonly roundTripMs?: readonly (readonly [NodeName, number])[];
  /** Called in place of the port that the service has. */
  readonly port?: number;
  /** Empty: rejected. */
  readonly means: readonly WorkloadName[];
  /** How often each of them is meant; missing: evenly. */
  readonly shares?: readonly number[];
}

/** That no service here has. */
const WRONG_PORT = 81;
const ALL = SPREAD.servers;
const REMOTE: readonly Server[] = [{ workload: "web-b" }, { workload: "web-c" }];

const ROWS: readonly Row[] = [
  {
    name: "round-robin",
    policy: "round-robin",
    servers: ALL,
    means: ["web-a", "web-b", "web-c"],
  },
  { name: "round-robin-without-instances", policy: "round-robin", servers: [], means: [] },
  {
    name: "round-robin-one-not-ready",
    policy: "round-robin",
    servers: [{ workload: "web-a", condition: "not-ready" }, ...REMOTE],
    means: ["web-b", "web-c"],
  },
  { name: "wrong-port", policy: "round-robin", servers: ALL, port: WRONG_PORT, means: [] },
  {
    name: "weights-1-3",
    policy: "round-robin",
    servers: [
      { workload: "web-a", weight: 0 },
      { workload: "web-b", weight: 1 },
      { workload: "web-c", weight: 3 },
    ],
    means: ["web-b", "web-c"],
    shares: [0.25, 0.75],
  },
  { name: "closest-on-this-node", policy: "closest", servers: ALL, means: ["web-a"] },
  { name: "closest-in-this-zone", policy: "closest", servers: REMOTE, means: ["web-b"] },
  {
    name: "closest-in-another-zone",
    policy: "closest",
    servers: [{ workload: "web-c" }],
    means: ["web-c"],
  },
  {
    name: "closest-by-round-trip",
    policy: "closest",
    servers: REMOTE,
    roundTripMs: [
      ["node-b", 20],
      ["node-c", 5],
    ],
    means: ["web-c"],
  },
  {
    name: "closest-by-the-only-round-trip",
    policy: "closest",
    servers: REMOTE,
    roundTripMs: [["node-c", 5]],
    means: ["web-c"],
  },
  {
    name: "closest-at-the-same-distance",
    policy: "closest",
    servers: REMOTE,
    roundTripMs: [
      ["node-b", 5],
      ["node-c", 5],
    ],
    means: ["web-b", "web-c"],
  },
  { name: "closest-without-instances", policy: "closest", servers: [], means: [] },
  { name: "instance", policy: "instance", instance: 1, servers: ALL, means: ["web-b"] },
  { name: "instance-not-there", policy: "instance", instance: 7, servers: ALL, means: [] },
  {
    name: "instance-not-ready",
    policy: "instance",
    instance: 1,
    servers: [{ workload: "web-a" }, { workload: "web-b", condition: "not-ready" }],
    means: [],
  },
];

const PROTOCOLS: readonly Protocol[] = ["TCP", "UDP"];

/** Edge address x TCP and UDP x family; for round-robin also x caller. */
export function edgeScenarios(): readonly Scenario[] {
  return ROWS.flatMap((row) =>
    PROTOCOLS.flatMap((protocol) =>
      FAMILIES.flatMap((family) => rowScenarios(row, protocol, family)),
    ),
  );
}

function rowScenarios(row: Row, protocol: Protocol, family: Family): readonly Scenario[] {
  const { name, policy, instance = -1, servers, roundTripMs = [], port, shares } = row;
  const observed: Observed = { roundTripMs: new Map(roundTripMs) };
  const callers = CALLERS.filter((caller) => name === "round-robin" || caller === "workload");
  return callers.map((caller) =>
    buildScenario({
      what: [name],
      family,
      service: {
        type: "edge-ip",
        protocol,
        edge: { policy, instance },
        // Traffic policies do not apply to an edge address.
        internalTrafficPolicy: "Local",
        externalTrafficPolicy: "Local",
      },
      servers,
      caller,
      observed,
      ...(port !== undefined && { target: { dstPort: port } }),
      expected: expectOf(row, family, caller),
      needs: {
        internalLocal: false,
        externalLocal: false,
        ...(shares !== undefined && { weights: true }),
      },
    }),
  );
}

/** Others come in by a listener; a node, and whoever calls an instance beside it, has an address in the overlay. */
function expectOf({ means, shares }: Row, family: Family, caller: Caller): Expected {
  if (means.length === 0 || caller === "outside") return { kind: "reject" };
  const even = means.map(() => 1 / means.length);
  return expectShares(
    means.map((workload, index) => [workload, (shares ?? even)[index] ?? 0]),
    family,
    (workload) => caller === "node" || workload === "web-a",
  );
}
