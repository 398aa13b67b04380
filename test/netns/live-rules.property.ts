import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Capabilities } from "../../src/backends/capabilities.ts";
import { isLoopback } from "../../src/core/model/address.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import type { Packet } from "../../src/core/route/packet.ts";
import { createRouter } from "../../src/core/route/route.ts";
import type { RoutePolicy } from "../../src/core/route/route-policy.ts";
import { globalStateOf } from "../../src/core/route/scenarios/scenario.ts";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import type { Verdict } from "../../src/core/route/verdict.ts";
import { type Exec, systemExec } from "../../src/platform/linux/exec.ts";
import { compareWithVerdict } from "../../src/platform/linux/live-rules/compare-verdict.ts";
import { describeOutcomes } from "../../src/platform/linux/live-rules/describe-outcomes.ts";
import type { LiveFacts } from "../../src/platform/linux/live-rules/live-packet.ts";
import { readOwnAddresses } from "../../src/platform/linux/live-rules/read-live-facts.ts";
import { readLiveRules } from "../../src/platform/linux/live-rules/read-live-rules.ts";
import { walkRuleset } from "../../src/platform/linux/live-rules/walk-ruleset.ts";
import { NFT_TABLES } from "../../src/platform/linux/nft/nft-tables.ts";
import type { RawOptions } from "./backend-messages.ts";
import { BackendProcess } from "./backend-process.ts";
import { NamespaceNetwork } from "./namespace-network.ts";
import { policyOptions } from "./policy-options.ts";
import { packetsOf, randomObjects } from "./random-states.ts";

/** A backend whose rules are read back. */
export interface LiveRulesSubject {
  readonly backend: string;
  readonly capabilities: Capabilities;
  readonly options?: RawOptions;
  /** What it is told first. */
  readonly first?: readonly ModelObject[];
  readonly policy: RoutePolicy;
  readonly numRuns: number;
}

const SAMPLE_SEED = 1;
const OPEN_TIMEOUT_MS = 30_000;
/** What one state may take on a machine that does much else. */
const RUN_TIMEOUT_MS = 6000;

/**
 * Random states are given to a backend; the rules that it made are read back from the kernel and
 * followed for many packets by a reader that shares nothing with it. Where they lead, and how often, has
 * to be what the reference says.
 */
export function runLiveRulesProperty(subject: LiveRulesSubject): void {
  let network: NamespaceNetwork | undefined;
  let process: BackendProcess | undefined;

  beforeAll(async () => {
    network = NamespaceNetwork.open();
    process = new BackendProcess(network);
    const options = { ...subject.options, ...policyOptions(subject.policy) };
    await process.start(subject.backend, options);
    if (subject.first !== undefined) await process.apply(subject.first);
  }, OPEN_TIMEOUT_MS);

  afterAll(async () => {
    await process?.close();
    network?.close();
  });

  test(
    "rules that are read back lead where the reference says",
    async () => {
      if (network === undefined || process === undefined) throw new Error("nothing is open");
      const [open, backend] = [network, process];
      await fc.assert(
        fc.asyncProperty(randomObjects, async (objects) => {
          await backend.apply(objects);
          expect(await disagreements(open, objects, subject)).toEqual([]);
        }),
        { numRuns: subject.numRuns },
      );
    },
    RUN_TIMEOUT_MS * subject.numRuns,
  );

  test("rules that are removed by hand are missed", async () => {
    if (network === undefined || process === undefined) throw new Error("nothing is open");
    const objects = fc.sample(randomObjects, { seed: SAMPLE_SEED, numRuns: 1 }).flat();
    await process.apply(objects);
    network.exec("node-a", "nft", ["flush", "ruleset"]);
    for (const program of ["iptables-legacy-restore", "ip6tables-legacy-restore"]) {
      network.exec("node-a", program, [], "*nat\nCOMMIT\n*filter\nCOMMIT\n");
    }
    expect(await disagreements(network, objects, subject)).not.toEqual([]);
  });
}

async function disagreements(
  network: NamespaceNetwork,
  objects: readonly ModelObject[],
  { policy, capabilities }: LiveRulesSubject,
): Promise<readonly string[]> {
  const rules = await readLiveRules({
    exec: execIn(network),
    listTables: () => network.inside("node-a", NFT_TABLES.list),
  });
  const facts = factsOf(network);
  const router = createRouter({ global: globalStateOf(objects), node: TOPOLOGY.node });
  const found: string[] = [];
  for (const packet of packetsOf(objects)) {
    const verdict = router.route(packet, policy);
    if (!isServed(verdict, capabilities)) continue;
    const outcomes = walkRuleset(rules, packet, facts);
    const unknown = outcomes.flatMap((outcome) => outcome.unknown);
    const differences = [...unknown, ...compareWithVerdict(outcomes, verdict)];
    if (differences.length === 0) continue;
    found.push(`${textOf(packet)}: ${differences.join("; ")}`, ...describeOutcomes(outcomes));
  }
  return found;
}

function isServed(verdict: Verdict, { addressTypes }: Capabilities): boolean {
  return verdict.kind === "not-ours" || addressTypes.includes(verdict.matched.type);
}

function textOf({ protocol, src, from, dst, dstPort }: Packet): string {
  return `${protocol} ${src} (${from}) to ${dst} port ${dstPort}`;
}

/** Programs are started inside the namespace of the node under test. */
function execIn(network: NamespaceNetwork): Exec {
  return {
    run: (program, args, options) =>
      network.inside("node-a", () => systemExec.run(program, args, options)),
  };
}

/** The machine of the node under test; interfaces are those that its links are named after. */
function factsOf(network: NamespaceNetwork): LiveFacts {
  const own = network.inside("node-a", readOwnAddresses);
  return {
    isLocalAddress: (ip) => isLoopback(ip) || own.has(ip),
    interfaceOf: (ip) => deviceTowards(network, ip),
    linksBeneath: () => new Set(),
    wasSeen: () => false,
  };
}

function deviceTowards(network: NamespaceNetwork, ip: string): string | undefined {
  const text = network.exec("node-a", "ip", ["route", "get", ip]);
  return / dev (\S+)/.exec(text)?.[1];
}
