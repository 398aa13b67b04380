import { describe, expect, test } from "vitest";
import { FAMILIES } from "../core/model/address.ts";
import { PROTOCOLS } from "../core/model/common.ts";
import { createRouter, type Router } from "../core/route/route.ts";
import { globalStateOf, type Scenario } from "../core/route/scenarios/scenario.ts";
import { SCENARIOS } from "../core/route/scenarios.ts";
import { ADDRESS_TYPES, type Candidate, type Verdict } from "../core/route/verdict.ts";
import { runBackendContract } from "./backend.contract.ts";
import type { Capabilities } from "./capabilities.ts";
import { planContract } from "./contract-cases.ts";
import type { ContractDriver, Observation } from "./contract-judge.ts";
import type { Deviation } from "./deviations.ts";

const EVERYTHING: Capabilities = {
  addressTypes: ADDRESS_TYPES,
  protocols: PROTOCOLS,
  families: FAMILIES,
  affinity: "with-timeout",
  sourceRanges: true,
  internalLocal: true,
  externalLocal: true,
  weights: true,
  methods: ["random"],
  requestHints: false,
  keepsSource: true,
};

const NODE_ADDRESS = "192.0.2.1";

/** A data plane that does what the reference says, taking turns by the golden ratio. */
class ReferenceDriver implements ContractDriver {
  #router: Router | undefined;
  #state = "";
  #turn = 0;

  async prepare({ objects, node }: Scenario): Promise<void> {
    const state = JSON.stringify([node, objects]);
    if (state === this.#state) return;
    this.#state = state;
    this.#router = createRouter({ global: globalStateOf(objects), node });
  }

  async send({ packet, policy, observed }: Scenario): Promise<Observation> {
    const verdict = this.#router?.route(packet, policy, observed);
    this.#turn = (this.#turn + GOLDEN_RATIO) % 1;
    return observationOf(verdict, packet.src, this.#turn);
  }

  async close(): Promise<void> {}
}

const GOLDEN_RATIO = 0.618_033_988_749_895;

function observationOf(verdict: Verdict | undefined, src: string, turn: number): Observation {
  switch (verdict?.kind) {
    case "endpoints":
      break;
    case "reject":
      return { kind: "rejected" };
    case "drop":
      return { kind: "dropped" };
    default:
      return { kind: "untouched" };
  }
  const chosen = chosenAt(verdict.candidates, turn);
  if (chosen === undefined) return { kind: "untouched" };
  const { address, targetPort, masquerade } = chosen;
  return { kind: "arrived", address, port: targetPort, source: masquerade ? NODE_ADDRESS : src };
}

/** Each candidate stands for its share of the turns from 0 to 1. */
function chosenAt(candidates: readonly Candidate[], turn: number): Candidate | undefined {
  let end = 0;
  for (const candidate of candidates) {
    end += candidate.probability;
    if (turn < end) return candidate;
  }
  return candidates.at(-1);
}

/** Tells something else than what it saw. */
class LyingDriver extends ReferenceDriver {
  readonly #lie: (seen: Observation, scenario: Scenario) => Observation;

  constructor(lie: (seen: Observation, scenario: Scenario) => Observation) {
    super();
    this.#lie = lie;
  }

  override async send(scenario: Scenario): Promise<Observation> {
    return this.#lie(await super.send(scenario), scenario);
  }
}

runBackendContract({
  backend: "reference",
  capabilities: EVERYTHING,
  open: async () => new ReferenceDriver(),
  deviations: [],
});

/** The same, many at once; shared by several drivers. */
class BatchDriver extends ReferenceDriver {
  readonly counts: number[] = [];
  #isBusy = false;

  async sendMany(scenario: Scenario, count: number): Promise<readonly Observation[]> {
    if (this.#isBusy) throw new Error("two scenarios at once");
    this.#isBusy = true;
    this.counts.push(count);
    const seen: Observation[] = [];
    for (let sent = 0; sent < count; sent += 1) seen.push(await this.send(scenario));
    await new Promise(setImmediate);
    this.#isBusy = false;
    return seen;
  }
}

runBackendContract({
  backend: "batches",
  capabilities: EVERYTHING,
  open: async () => new BatchDriver(),
  concurrency: 3,
  scenarios: SCENARIOS.filter(({ name }) => name.startsWith("node-port/tcp/v4/")),
  deviations: [],
});

test("a driver that can is asked for many packets at once, and no more than are needed", async () => {
  const driver = new BatchDriver();
  expect(
    await problemsOf(driver, { like: /^node-port\/tcp\/v4\/eTP-Local\/spread\/from-outside$/ }),
  ).toEqual([]);
  expect(driver.counts).toEqual([16]);
  expect(await problemsOf(driver, { like: /^node-port\/tcp\/v4\/weights-1-3-0\// })).toEqual([]);
  expect(driver.counts.slice(1).reduce((sum, count) => sum + count)).toBe(500);
});

/** The problems that a driver has with the scenarios. */
async function problemsOf(
  driver: ContractDriver,
  more: { capabilities?: Capabilities; deviations?: readonly Deviation[]; like?: RegExp } = {},
): Promise<readonly string[]> {
  const { capabilities = EVERYTHING, deviations = [], like = /./ } = more;
  const scenarios = SCENARIOS.filter(({ name }) => like.test(name));
  expect(scenarios.length).toBeGreaterThan(0);
  const problems: string[] = [];
  for (const { run } of planContract({ backend: "liar", capabilities, scenarios, deviations })) {
    const problem = await run(driver);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

const deviation = (scenarios: RegExp): Deviation => ({
  id: "liar/lies",
  backend: "liar",
  scenarios,
  fact: "it lies",
  instead: "it says something else",
  evidence: "none",
});
const UDP = /\/udp\//;
const TCP_CAPABILITIES: Capabilities = { ...EVERYTHING, protocols: ["TCP", "SCTP"] };

describe("a driver that lies", () => {
  test("about rejects fails just the scenarios that are rejected", async () => {
    const driver = new LyingDriver((seen) =>
      seen.kind === "rejected" ? { kind: "dropped" } : seen,
    );
    const rejected = SCENARIOS.filter(({ expected }) => expected.kind === "reject");
    const problems = await problemsOf(driver);
    expect(problems).toHaveLength(rejected.length);
    expect(new Set(problems)).toEqual(new Set(["expected: rejected; seen: dropped"]));
  });

  test("about the source fails wherever the source is kept", async () => {
    const driver = new LyingDriver((seen) =>
      seen.kind === "arrived" ? { ...seen, source: NODE_ADDRESS } : seen,
    );
    const kept = SCENARIOS.filter(({ needs }) => needs.keepsSource === true);
    expect(await problemsOf(driver)).toHaveLength(kept.length);
  });

  test("about the share of an endpoint fails where weights count", async () => {
    let even = 0;
    const driver = new LyingDriver((seen, { expected }) => {
      even += 1;
      const one = expected.kind === "endpoints" ? expected.endpoints[even % 2] : undefined;
      return one === undefined
        ? seen
        : {
            ...seen,
            kind: "arrived",
            address: one.address,
            port: one.targetPort,
            source: NODE_ADDRESS,
          };
    });
    const problems = await problemsOf(driver, { like: /weights-1-3-0/ });
    expect(problems).toHaveLength(8);
    expect(problems[0]).toMatch(/expected a share of 0.25 .* but it got 0.5 of 500 packets/);
  });

  test("by never using an endpoint fails wherever there are several", async () => {
    const driver = new LyingDriver((seen, { expected }) => {
      const first = expected.kind === "endpoints" ? expected.endpoints[0] : undefined;
      if (seen.kind !== "arrived" || first === undefined) return seen;
      return { ...seen, address: first.address };
    });
    const like = /^cluster-ip\/tcp\/v4\/iTP-Cluster\/spread\/from-workload$/;
    expect(await problemsOf(driver, { like })).toEqual([
      expect.stringMatching(/but it got 0 of \d+ packets/),
    ]);
  });
});

describe("a deviation", () => {
  const dropsUdp = (): ContractDriver =>
    new LyingDriver((seen, { packet }) =>
      packet.protocol === "UDP" ? { kind: "untouched" } : seen,
    );
  const like = /^cluster-ip\/[a-z]+\/v4\/iTP-Cluster\/spread/;

  test("lets pass what it declares", async () => {
    const deviations = [deviation(UDP)];
    expect(await problemsOf(dropsUdp(), { deviations, like })).toEqual([]);
  });

  test("that is not needed is a problem, for each scenario", async () => {
    const deviations = [deviation(UDP)];
    const problems = await problemsOf(new ReferenceDriver(), { deviations, like });
    expect(problems).toHaveLength(4);
    expect(problems[0]).toMatch(/deviation liar\/lies is not needed here/);
  });

  test("that covers no scenario is a problem", async () => {
    const deviations = [deviation(/^no-such-scenario$/)];
    expect(await problemsOf(new ReferenceDriver(), { deviations, like })).toEqual([
      expect.stringMatching(/deviation liar\/lies is not needed/),
    ]);
  });

  test("is needed for what the capabilities lack, and then nothing is tried", async () => {
    const capabilities = TCP_CAPABILITIES;
    const udp = /^cluster-ip\/udp\/v4\/iTP-Cluster\/spread/;
    const undeclared = await problemsOf(new ReferenceDriver(), { capabilities, like: udp });
    expect(new Set(undeclared)).toEqual(
      new Set(["liar lacks protocols: UDP, and no deviation says why"]),
    );
    const deviations = [deviation(UDP)];
    const declared = await problemsOf(new ReferenceDriver(), {
      capabilities,
      deviations,
      like: udp,
    });
    expect(declared).toEqual([]);
  });
});
