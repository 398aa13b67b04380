import { describe, expect, onTestFinished, test } from "vitest";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import { TOPOLOGY, type WorkloadName } from "../../src/core/route/scenarios/topology.ts";
import { requires } from "../support/requires.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { BackendProcess } from "./backend-process.ts";
import type { CallOutcome } from "./call.ts";
import { parseGreeting } from "./greeting.ts";
import { Stage } from "./stage.ts";

const { workloads, outside, targetPort, port } = TOPOLOGY;
const CHANGES = 200;
const CALLS_A_CHANGE = 4;
const SEED = 20_261_115;

/** Two services that share no workload; each endpoint of theirs comes and goes. */
const SERVICES: readonly { ip: string; name: string; workloads: readonly WorkloadName[] }[] = [
  { ip: "10.96.0.21", name: "a", workloads: ["web-a", "web-b"] },
  { ip: "10.96.0.22", name: "b", workloads: ["web-c", "client-a"] },
];

function endpointsOf(name: string, group: readonly WorkloadName[]): readonly ModelObject[] {
  return group.map((workload) =>
    endpointSchema.parse({
      kind: "Endpoint",
      name: `${name}-${workload}`,
      group: name,
      addresses: [workloads[workload].addresses.v4],
    }),
  );
}

/** At least one of each service, by lot; affinity and weights come and go, too. */
function stateBy(random: () => number): readonly ModelObject[] {
  return SERVICES.flatMap(({ ip, name, workloads: group }) => {
    const first = Math.floor(random() * group.length);
    const some = group.filter((_, index) => index === first || random() < 0.5);
    return [
      serviceSchema.parse({
        kind: "Service",
        name,
        clusterIPs: [ip],
        ports: [{ port, targetPort }],
        affinitySeconds: random() < 0.3 ? 60 : 0,
      }),
      ...endpointsOf(name, some),
    ];
  });
}

function whoAnswered(outcome: CallOutcome): string {
  return outcome.kind === "answered" ? parseGreeting(outcome.text).at : outcome.kind;
}

describe("nftables", requires("linux", "root", "ip", "nft"), () => {
  test("while endpoints come and go, nobody is refused and nobody is sent astray", async () => {
    const stage = Stage.open();
    const backend = new BackendProcess(stage.network);
    onTestFinished(async () => {
      await backend.close();
      stage.close();
    });
    await backend.start("nftables", {});
    const random = seededRandom(SEED);
    await backend.apply(stateBy(random));
    const answers = new Map(SERVICES.map(({ name }) => [name, new Set<string>()]));
    const call = async ({ ip, name }: (typeof SERVICES)[number]): Promise<void> => {
      const base = { party: "outside", protocol: "TCP", from: outside.v4 } as const;
      const [outcome] = await stage.call([{ ...base, to: ip, port }]);
      if (outcome !== undefined) answers.get(name)?.add(whoAnswered(outcome));
    };
    const calls: Promise<void>[] = [];
    for (let change = 0; change < CHANGES; change += 1) {
      const applied = backend.apply(stateBy(random));
      for (const service of SERVICES) {
        for (let count = 0; count < CALLS_A_CHANGE; count += 1) calls.push(call(service));
      }
      await applied;
    }
    await Promise.all(calls);
    for (const { name, workloads: group } of SERVICES) {
      const own = group.map((workload) => workloads[workload].addresses.v4);
      expect([...(answers.get(name) ?? [])].sort()).toEqual([...own].sort());
    }
  }, 120_000);
});
