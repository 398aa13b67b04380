import { PassThrough } from "node:stream";
import type { Log } from "../../core/log.ts";
import { canonicalIp } from "../../core/model/address.ts";
import { keyOf } from "../../core/model/object.ts";
import type { Scenario } from "../../core/route/scenarios/scenario.ts";
import { TOPOLOGY } from "../../core/route/scenarios/topology.ts";
import { sourceHost } from "../../net/threads/loop-thread.fixture.ts";
import { createEngine } from "../../proxy/engine.ts";
import { applyObjects, isNoOtherThan } from "../apply-objects.fixture.ts";
import type { Backend } from "../backend.ts";
import type { ContractDriver, Observation } from "../contract-judge.ts";
import { USERSPACE } from "./definition.ts";
import { type CallOutcome, callTcp, callUdp } from "./loopback-call.fixture.ts";
import { LoopbackPlaces, WORKLOADS } from "./loopback-places.fixture.ts";
import { startServers } from "./loopback-servers.fixture.ts";
import { createUserspaceBackend } from "./userspace-backend.ts";

const SILENT: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
};

/** Both run everywhere that these tests do, unless it is no Linux. */
export type LoopbackProvider = "node" | "posix";

/** The contract on this machine's loopback interface, with real sockets and without root. */
export class LoopbackDriver implements ContractDriver {
  readonly #places: LoopbackPlaces;
  readonly #stopServers: () => void;
  readonly #provider: LoopbackProvider;
  #running: { readonly backend: Backend; readonly policy: string } | undefined;

  private constructor(places: LoopbackPlaces, stopServers: () => void, provider: LoopbackProvider) {
    this.#places = places;
    this.#stopServers = stopServers;
    this.#provider = provider;
  }

  static async open(provider: LoopbackProvider): Promise<LoopbackDriver> {
    const places = await LoopbackPlaces.find();
    return new LoopbackDriver(places, await startServers(places), provider);
  }

  async prepare(scenario: Scenario): Promise<void> {
    const backend = await this.#backendFor(scenario);
    const objects = this.#places.objects(scenario);
    const histories = scenario.observed.affinity ?? [];
    // Who was served before this scenario is forgotten.
    if (histories.length > 0) await applyObjects(backend.sink, [], USERSPACE.sets);
    for (const { endpoint } of histories) {
      await applyObjects(backend.sink, objects.filter(isNoOtherThan(endpoint)), USERSPACE.sets);
      await this.send(scenario);
    }
    await applyObjects(backend.sink, objects, USERSPACE.sets);
  }

  async send(scenario: Scenario): Promise<Observation> {
    const { protocol, src, dst, dstPort } = scenario.packet;
    const call = {
      from: this.#places.ip(src),
      to: this.#places.ip(dst),
      port: this.#places.port(dstPort),
    };
    const expected = scenario.expected.kind === "drop" ? "silence" : "answer";
    const outcome = await (protocol === "UDP" ? callUdp(call, expected) : callTcp(call));
    return observationOf(outcome, scenario, call.from);
  }

  async close(): Promise<void> {
    await this.#running?.backend.close();
    this.#stopServers();
  }

  /** The one that runs, unless it was started for another policy. */
  async #backendFor(scenario: Scenario): Promise<Backend> {
    const policy = String(scenario.policy.nodePortAddresses);
    if (this.#running?.policy === policy) return this.#running.backend;
    await this.#running?.backend.close();
    const backend = await createBackend(scenario.node, policy, this.#provider);
    this.#running = { backend, policy };
    return backend;
  }
}

/** Whether a scenario can be played where there is only the loopback interface. */
export function isPlayable(scenario: Scenario): boolean {
  const { packet, policy, observed, objects, needs, expected } = scenario;
  if (typeof policy.nodePortAddresses !== "string") return false;
  // Here every address is one of loopback, and a wildcard answers on those of other nodes too.
  if (policy.nodePortAddresses === "localhost") return false;
  if (packet.dst === TOPOLOGY.nodes["node-b"].addresses[needs.family]) return false;
  // A closed UDP port looks the same whoever closed it.
  if (packet.protocol === "UDP" && expected.kind === "not-ours") return false;
  if (needs.affinity !== undefined && !isRemembered(scenario)) return false;
  if (observed.health !== undefined) return false;
  if (needs.family === "v4") return true;
  // Here all come from one address, and who calls from an own one is not bound by a policy.
  if (needs.externalLocal && packet.from !== "node") return false;
  const secondary = TOPOLOGY.secondary.v6;
  return (
    packet.dst !== secondary &&
    packet.dst !== TOPOLOGY.loopback.v6 &&
    policy.nodePortAddresses === "primary" &&
    !needs.sourceRanges &&
    objects.every((object) => object.kind !== "Listener" || object.address !== secondary)
  );
}

/** What is over, or was another client's, would have to be waited for or is not told apart. */
function isRemembered({ observed, objects, packet }: Scenario): boolean {
  const records = observed.affinity ?? [];
  return (
    records.length > 0 &&
    records.every(
      ({ endpoint, client, ageSeconds }) =>
        ageSeconds <= 1 && client === packet.src && objects.some((one) => keyOf(one) === endpoint),
    )
  );
}

async function createBackend(
  nodeName: string,
  nodeportAddresses: string,
  provider: LoopbackProvider,
): Promise<Backend> {
  const { startWorker } = sourceHost();
  const threads = startWorker && { startWorker };
  return createUserspaceBackend(
    {
      loops: 1,
      stayAwake: "auto",
      drainTimeout: 1000,
      takeOver: false,
      nodeportAddresses,
      provider,
      redirect: false,
      kcpSecretFile: undefined,
      kcpFast: 4,
      redirectPort: 26_000,
    },
    { nodeName, log: SILENT, stdout: new PassThrough() },
    {
      createEngine: (options) => createEngine({ ...options, ...threads }),
      machineAddresses: () => new Set(),
      cores: 1,
    },
  );
}

/** In words of the topology. */
function observationOf(
  outcome: CallOutcome,
  { packet, needs }: Scenario,
  from: string,
): Observation {
  switch (outcome.kind) {
    case "refused":
      return { kind: packet.protocol === "UDP" ? "rejected" : "untouched" };
    case "closed":
      return { kind: "rejected" };
    case "silence":
      return { kind: "dropped" };
    case "answered": {
      const [name, seenAddress = "", seenPort] = outcome.text.split(" ");
      const workload = WORKLOADS.find((one) => one === name);
      if (workload === undefined) throw new Error(`a stranger answered: ${outcome.text}`);
      const isKept = canonicalIp(seenAddress) === from && Number(seenPort) === outcome.ownPort;
      return {
        kind: "arrived",
        address: TOPOLOGY.workloads[workload].addresses[needs.family],
        port: TOPOLOGY.targetPort,
        source: isKept ? packet.src : "the proxy",
      };
    }
  }
}
