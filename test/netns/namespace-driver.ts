import { setTimeout as delay } from "node:timers/promises";
import type { ContractDriver, Observation } from "../../src/backends/contract-judge.ts";
import { loadBackend } from "../../src/backends/registry.ts";
import { familyOf, WILDCARDS } from "../../src/core/model/address.ts";
import { PROTOCOLS, type Protocol } from "../../src/core/model/common.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { hasAffinity, type Scenario } from "../../src/core/route/scenarios/scenario.ts";
import type { RawOptions } from "./backend-messages.ts";
import { BackendProcess } from "./backend-process.ts";
import type { CallOutcome } from "./call.ts";
import { parseGreeting } from "./greeting.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import { policyOptions } from "./policy-options.ts";
import {
  bindingObjects,
  CLIENT_COUNT,
  callerOf,
  clientAddress,
  emptyObjects,
  ownerOf,
} from "./scenario-clients.ts";
import type { Server } from "./serve.ts";
import { SETTLE_MS, Stage } from "./stage.ts";

const FORGETTING_MS = 30_000;
const FORGETTING_STEP_MS = 50;
/** So often a history is made anew that ran out before the calls were through. */
const MAX_HISTORIES = 10;

export interface NamespaceOptions {
  /** Its name in the registry. */
  readonly backend: string;
  /** They win over what a scenario's policy says. */
  readonly options?: RawOptions;
  /** What it is told first, before any scenario. */
  readonly first?: readonly ModelObject[];
  /** Addresses that the node under test has beside its own. */
  readonly assigned?: readonly string[];
  /**
   * The protocols in which somebody stands on each port of the node that the backend leaves alone, to
   * tell what is untouched from what is rejected. Default: all. A backend for which a closed port is
   * how it rejects leaves that protocol out.
   */
  readonly catches?: readonly Protocol[];
  /** Whether the data plane forgot the clients of services that are gone. Default: it does so at once. */
  readonly hasForgotten?: (network: NamespaceNetwork) => boolean;
  /** Whether the node calls from sockets that are bound to no address: then any of its own will do. */
  readonly isUnbound?: boolean;
  /** Default: `SETTLE_MS`; more for what is not done in the kernel. */
  readonly settleMs?: number;
}

/** The driver of a backend that is in the registry; a contract test needs no more. Needs root. */
export async function openNamespaces(options: NamespaceOptions): Promise<NamespaceDriver> {
  const definition = await loadBackend(options.backend);
  if (definition === undefined) throw new Error(`there is no backend ${options.backend}`);
  return new NamespaceDriver(options, new Set(Object.keys(definition.options)));
}

/**
 * The contract with real packets: a backend in the namespace of the node under test, and callers and
 * servers in those around it.
 */
export class NamespaceDriver implements ContractDriver {
  readonly stage: Stage;
  readonly #options: NamespaceOptions;
  /** Names of the options that the backend has. */
  readonly #known: ReadonlySet<string>;
  readonly #backend: BackendProcess;
  #started = "";
  #clients = 0;
  /** When the first client was bound whose binding is still to hold. */
  #boundAtMs = Number.POSITIVE_INFINITY;
  #catcher: Server | undefined;
  /** An address that the node has for one scenario. */
  #borrowed: string | undefined;

  constructor(options: NamespaceOptions, known: ReadonlySet<string>) {
    this.#options = options;
    this.#known = known;
    this.stage = Stage.open();
    const { network } = this.stage;
    network.ip(
      "node-a",
      (options.assigned ?? []).map((ip) => `address add ${ip} dev lo`),
    );
    this.#backend = new BackendProcess(network);
  }

  async prepare(scenario: Scenario): Promise<void> {
    this.#catcher?.close();
    this.#giveBack();
    await this.#start({ ...policyOptions(scenario.policy), ...this.#options.options });
    this.#clients = 0;
    this.#boundAtMs = Number.POSITIVE_INFINITY;
    if (hasAffinity(scenario)) await this.#remember(scenario);
    await this.#backend.apply(scenario.objects);
    this.#borrow(scenario);
    this.#catcher = this.#catch(scenario);
  }

  async send(scenario: Scenario): Promise<Observation> {
    const [seen] = await this.sendMany(scenario, 1);
    if (seen === undefined) throw new Error("nothing was sent");
    return seen;
  }

  async sendMany(scenario: Scenario, count: number): Promise<readonly Observation[]> {
    let seen = await this.#sendOnce(scenario, count);
    // On a busy machine clients may be forgotten before all of them have called.
    for (let made = 1; made < MAX_HISTORIES && this.#isOver(scenario); made += 1) {
      await this.prepare(scenario);
      seen = await this.#sendOnce(scenario, count);
    }
    return seen;
  }

  async #sendOnce(scenario: Scenario, count: number): Promise<readonly Observation[]> {
    const first = this.#clients;
    const isEachAnother = hasAffinity(scenario);
    if (isEachAnother) this.#clients += count;
    if (this.#clients > CLIENT_COUNT) throw new Error(`there are only ${CLIENT_COUNT} clients`);
    const froms = Array.from({ length: count }, (_, index) =>
      clientAddress(scenario, isEachAnother ? first + index : 0),
    );
    const outcomes = await this.#call(scenario, callerOf(scenario), froms);
    const seen = outcomes.map((outcome, index) =>
      observationOf(outcome, scenario, froms[index] ?? ""),
    );
    return this.#options.isUnbound ? seen.map((one) => withExpectedSource(one, scenario)) : seen;
  }

  async close(): Promise<void> {
    await this.#backend.close();
    this.stage.close();
  }

  /** Whether a history that should hold has come to its end by now. */
  #isOver({ objects }: Scenario): boolean {
    const seconds = objects.flatMap((one) => (one.kind === "Service" ? one.affinitySeconds : []));
    return performance.now() - this.#boundAtMs >= Math.max(...seconds) * MS_PER_SECOND;
  }

  /** Not again where that changes nothing: a backend need not know all that a policy says. */
  async #start(options: RawOptions): Promise<void> {
    const known = Object.fromEntries(
      Object.entries(options).filter(([name]) => this.#known.has(name)),
    );
    const wanted = JSON.stringify(known);
    if (this.#started === wanted) return;
    this.#started = "";
    await this.#backend.start(this.#options.backend, known);
    if (this.#options.first !== undefined) await this.#backend.apply(this.#options.first);
    this.#started = wanted;
  }

  /** What was observed before: nothing of earlier scenarios, then the calls that bound clients. */
  async #remember(scenario: Scenario): Promise<void> {
    await this.#backend.apply(emptyObjects(scenario));
    await this.#forgotten();
    for (const { client, endpoint, ageSeconds } of scenario.observed.affinity ?? []) {
      await this.#backend.apply(bindingObjects(scenario, endpoint));
      if (ageSeconds <= 1) this.#boundAtMs = Math.min(this.#boundAtMs, performance.now());
      const isOwn = client === scenario.packet.src;
      const clients = isOwn
        ? Array.from({ length: CLIENT_COUNT }, (_, index) => clientAddress(scenario, index))
        : [client];
      const party = isOwn ? callerOf(scenario) : ownerOf(client);
      const outcomes = await this.#call(scenario, party, clients);
      const missed = outcomes.find(({ kind }) => kind !== "answered");
      if (missed !== undefined) throw new Error(`no history could be made: ${missed.kind}`);
      if (ageSeconds > 1) await delay(ageSeconds * MS_PER_SECOND);
    }
  }

  async #forgotten(): Promise<void> {
    const { hasForgotten = () => true } = this.#options;
    const end = performance.now() + FORGETTING_MS;
    while (!hasForgotten(this.stage.network)) {
      if (performance.now() > end)
        throw new Error("clients of services that are gone are remembered");
      await delay(FORGETTING_STEP_MS);
    }
  }

  #call(
    { packet, expected }: Scenario,
    party: PartyName,
    froms: readonly string[],
  ): Promise<readonly CallOutcome[]> {
    const { protocol, dst: to, dstPort: port } = packet;
    const isUnbound = this.#options.isUnbound === true && party === "node-a";
    const calls = froms.map((own) => {
      const from = isUnbound ? WILDCARDS[familyOf(own)] : own;
      return { party, protocol, from, to, port };
    });
    return expected.kind === "drop"
      ? this.stage.callInVain(calls, this.#options.settleMs ?? SETTLE_MS)
      : this.stage.call(calls);
  }

  /** Stands where the packet would end if there were no services. */
  #catch({ packet }: Scenario): Server | undefined {
    const { dst: ip, dstPort: port, protocol } = packet;
    const isAssigned = this.#options.assigned?.includes(ip) === true || this.#borrowed === ip;
    const party = isAssigned ? "node-a" : ownerOf(ip);
    const { catches = PROTOCOLS } = this.#options;
    if (party === "node-a" && !catches.includes(protocol)) return undefined;
    return this.stage.serve({ party, protocol, ip, port, isCatcher: true });
  }

  /** A node that sends from an address has it. */
  #borrow({ packet }: Scenario): void {
    if (packet.from !== "node" || ownerOf(packet.src) !== "beyond") return;
    if (this.#options.assigned?.includes(packet.src)) return;
    this.stage.network.ip("node-a", [`address add ${packet.src} dev lo`]);
    this.#borrowed = packet.src;
  }

  #giveBack(): void {
    if (this.#borrowed === undefined) return;
    const length = this.#borrowed.includes(":") ? 128 : 32;
    this.stage.network.ip("node-a", [`address del ${this.#borrowed}/${length} dev lo`]);
    this.#borrowed = undefined;
  }
}

const MS_PER_SECOND = 1000;

/** One of the node's addresses, which the way to the endpoint chose: hidden or not, it is the node's. */
function withExpectedSource(seen: Observation, { packet, expected }: Scenario): Observation {
  if (seen.kind !== "arrived" || expected.kind !== "endpoints") return seen;
  const endpoint = expected.endpoints.find(({ address }) => address === seen.address);
  return endpoint?.masquerade === false ? { ...seen, source: packet.src } : seen;
}

/** In words of the scenario, whichever client called. */
function observationOf(outcome: CallOutcome, { packet }: Scenario, from: string): Observation {
  switch (outcome.kind) {
    case "silence":
      return { kind: "dropped" };
    case "refused":
    case "closed":
      return { kind: "rejected" };
    case "answered": {
      const { at, port, source, isCatcher } = parseGreeting(outcome.text);
      if (isCatcher) return { kind: "untouched" };
      return { kind: "arrived", address: at, port, source: source === from ? packet.src : source };
    }
  }
}
