import { expect, test } from "vitest";
import { route } from "../../core/route/route.ts";
import { globalStateOf, type Scenario } from "../../core/route/scenarios/scenario.ts";
import { SCENARIOS } from "../../core/route/scenarios.ts";
import { deviationsOf } from "../deviations.ts";
import { explainIpvs } from "./explain-live.ts";
import { FakeMachine } from "./fake-machine.fixture.ts";

const isDeviating = ({ name }: Scenario): boolean =>
  deviationsOf("ipvs").some(({ id, scenarios }) => id !== OTHER_PORTS && scenarios.test(name));
/** A deviation that it knows, and does not take for one of this machine alone. */
const OTHER_PORTS = "ipvs/other-ports";
/** What a client did before is in no rule. */
const isPlain = ({ observed }: Scenario): boolean => (observed.affinity ?? []).length === 0;

/** Scenarios that differ only in the packet have one machine. */
const machines = new Map<string, Promise<FakeMachine>>();

function machineFor({ node, objects, policy }: Scenario): Promise<FakeMachine> {
  const key = JSON.stringify([node, objects, policy]);
  const known = machines.get(key) ?? programmed({ node, objects, policy });
  machines.set(key, known);
  return known;
}

async function programmed({
  node,
  objects,
  policy,
}: Pick<Scenario, "node" | "objects" | "policy">): Promise<FakeMachine> {
  const machine = new FakeMachine();
  await machine.program(node, policy, objects);
  return machine;
}

async function alarmsOf(scenario: Scenario): Promise<readonly string[]> {
  const { node, objects, packet, policy, observed } = scenario;
  const machine = await machineFor(scenario);
  machine.device = packet.from === "workload" ? "veth-web" : "eth0";
  const { lines, differencesFrom } = await explainIpvs(packet, machine.platform, machine);
  const verdict = route({ global: globalStateOf(objects), node }, packet, policy, observed);
  return [...lines.filter((line) => line.startsWith("not known")), ...differencesFrom(verdict)];
}

test("explain --live finds nothing otherwise than the reference in what the backend makes of any scenario", async () => {
  const alarms: string[] = [];
  for (const scenario of SCENARIOS.filter((one) => !isDeviating(one) && isPlain(one))) {
    const found = await alarmsOf(scenario);
    if (found.length > 0) alarms.push(`${scenario.name}: ${found.join("; ")}`);
  }
  expect(alarms).toEqual([]);
}, 60_000);
