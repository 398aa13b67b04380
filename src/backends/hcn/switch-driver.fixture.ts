import { FAMILIES } from "../../core/model/address.ts";
import { hasAffinity, type Scenario } from "../../core/route/scenarios/scenario.ts";
import { TOPOLOGY } from "../../core/route/scenarios/topology.ts";
import { FakeHcn } from "../../platform/windows/fake.ts";
import { applyObjects, isNoOtherThan } from "../apply-objects.fixture.ts";
import type { Backend } from "../backend.ts";
import type { ContractDriver, Observation } from "../contract-judge.ts";
import { FakeSwitch } from "./fake-switch.fixture.ts";
import { createHcnBackend, HCN_SETS } from "./hcn-backend.ts";
import {
  NETWORK_ID,
  networkJson,
  optionsOf,
  seedLocal,
  TestWorld,
  testContext,
} from "./hcn-rig.fixture.ts";

/** Addresses of the switch in the network of the workloads. */
const SWITCH_IPS = { v4: "10.244.1.2", v6: "fd00:244:1::2" } as const;

interface Running {
  /** What it was brought to; undefined where a client has a history. */
  readonly state: string | undefined;
  readonly backend: Backend;
  readonly plane: FakeSwitch;
}

/** Plays scenarios on a fake HCN, and sends packets through a switch that has its load balancers. */
export class SwitchDriver implements ContractDriver {
  readonly #flags: Readonly<Record<string, unknown>>;
  #running: Running | undefined;

  constructor(flags: Readonly<Record<string, unknown>> = {}) {
    this.#flags = flags;
  }

  async prepare(scenario: Scenario): Promise<void> {
    const { objects, packet, observed, needs } = scenario;
    const state = hasAffinity(scenario) ? undefined : JSON.stringify([needs.family, objects]);
    if (state !== undefined && this.#running?.state === state) return;
    await this.close();
    const running = { ...(await open(scenario, this.#flags)), state };
    this.#running = running;
    for (const { endpoint, client } of observed.affinity ?? []) {
      await applyObjects(running.backend.sink, objects.filter(isNoOtherThan(endpoint)), HCN_SETS);
      running.plane.send({ ...packet, src: client }, true);
    }
    await applyObjects(running.backend.sink, objects, HCN_SETS);
  }

  async send({ packet }: Scenario): Promise<Observation> {
    if (this.#running === undefined) throw new Error("no scenario is prepared");
    return this.#running.plane.send(packet, false);
  }

  async close(): Promise<void> {
    await this.#running?.backend.close();
    this.#running = undefined;
  }
}

async function open(
  { needs: { family } }: Scenario,
  flags: Readonly<Record<string, unknown>>,
): Promise<Omit<Running, "state">> {
  const { nodes, node, workloads, secondary } = TOPOLOGY;
  const { addresses, subnets } = nodes[node];
  const prefixes = FAMILIES.map((one) => ({ IpAddressPrefix: subnets[one] }));
  const fake = new FakeHcn();
  fake.seed("Network", NETWORK_ID, networkJson({ Ipams: [{ Subnets: prefixes }] }));
  for (const { node: home, addresses: own } of Object.values(workloads)) {
    if (home === node) for (const one of FAMILIES) seedLocal(fake, own[one]);
  }
  const context = { ...testContext(), nodeName: node };
  const backend = await createHcnBackend(optionsOf(flags), context, new TestWorld(fake));
  const nodeIps = [addresses[family], secondary[family]];
  return { backend, plane: new FakeSwitch(fake, { nodeIps, ownIp: SWITCH_IPS[family] }) };
}
