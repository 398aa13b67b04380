import { setTimeout as delay } from "node:timers/promises";
import { FAMILIES, familyOf } from "../../src/core/model/address.ts";
import { PROTOCOLS } from "../../src/core/model/common.ts";
import { TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { type Call, type CallOutcome, startCall } from "./call.ts";
import { FreshPorts } from "./fresh-ports.ts";
import { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import { Reactor } from "./reactor.ts";
import { type Place, type Server, serve } from "./serve.ts";

/** A call; from a port that the stage chooses, unless it says one. */
export type StageCall = Omit<Call, "fromPort"> & { readonly fromPort?: number };

const NODE = TOPOLOGY.nodes["node-a"].addresses;
/** Where a server of the node tells that what was sent before has been dealt with. */
const FENCE_PORT = 9;
/**
 * Where nothing is heard though something should be, a test fails: no hurry. It is waited for in steps,
 * since a process that was held up for seconds has not listened meanwhile.
 */
const PATIENCE_STEPS = 50;
const PATIENCE_STEP_MS = 100;
/** How long nothing happens before a packet counts as dropped, once a later one was answered. */
export const SETTLE_MS = 60;

/** The workloads that serve, and where. */
const WORKLOADS: readonly (readonly [PartyName, (typeof TOPOLOGY.workloads)["web-a"]])[] = [
  ["client-a", TOPOLOGY.workloads["client-a"]],
  ["web-a", TOPOLOGY.workloads["web-a"]],
  ["node-b", TOPOLOGY.workloads["web-b"]],
  ["node-c", TOPOLOGY.workloads["web-c"]],
];

/** The network of `TOPOLOGY` with its workloads serving, and with a voice for everyone in it. */
export class Stage {
  readonly network: NamespaceNetwork;
  readonly #reactor: Reactor;
  readonly #ports = new FreshPorts();
  #arrivals = 0;
  /** Lots of calls: how many there were, and how many are under way. */
  #lots = 0;
  #openLots = 0;

  private constructor(network: NamespaceNetwork, reactor: Reactor) {
    this.network = network;
    this.#reactor = reactor;
  }

  static open(): Stage {
    const stage = new Stage(NamespaceNetwork.open(), new Reactor());
    for (const family of FAMILIES) {
      for (const [party, { addresses }] of WORKLOADS) {
        const place = { party, ip: addresses[family], port: TOPOLOGY.targetPort };
        for (const protocol of PROTOCOLS) stage.serve({ ...place, protocol });
      }
      const fence = { party: "node-a", ip: NODE[family], port: FENCE_PORT } as const;
      stage.serve({ ...fence, protocol: "UDP" });
    }
    return stage;
  }

  /** Answers everyone who calls there. @returns undefined where somebody else has the place */
  serve(place: Place): Server | undefined {
    const onArrival = () => {
      if (place.port !== FENCE_PORT) this.#arrivals += 1;
    };
    return serve({ network: this.network, reactor: this.#reactor, onArrival }, place);
  }

  /** Calls, all at once. Who hears nothing for a long time is done with `silence`. */
  call(calls: readonly StageCall[]): Promise<readonly CallOutcome[]> {
    return this.#outcomes(calls, async (signal) => {
      for (let step = 0; step < PATIENCE_STEPS; step += 1) {
        await delay(PATIENCE_STEP_MS, undefined, { signal });
      }
    });
  }

  /**
   * The same where silence is expected, so that it takes less time: it counts as soon as a later
   * packet of the same party was answered by the node and then nothing came for a while.
   */
  callInVain(
    calls: readonly StageCall[],
    settleMs: number = SETTLE_MS,
  ): Promise<readonly CallOutcome[]> {
    return this.#outcomes(calls, async (signal) => {
      for (const call of calls) await this.#fence(call);
      await delay(settleMs, undefined, { signal });
    });
  }

  close(): void {
    this.#reactor.close();
    this.network.close();
  }

  async #outcomes(
    calls: readonly StageCall[],
    silence: (signal: AbortSignal) => Promise<void>,
  ): Promise<readonly CallOutcome[]> {
    const before = this.#arrivals;
    this.#lots += 1;
    const lot = this.#lots;
    const beganAlone = this.#openLots === 0;
    this.#openLots += 1;
    const pending = calls.map((call) => this.#start(call));
    const over = new AbortController();
    const givenUp = silence(over.signal).then(
      () => {
        for (const call of pending) call.giveUp();
      },
      (error: unknown) => {
        if (!over.signal.aborted) throw error;
      },
    );
    const outcomes = await Promise.all(pending.map(({ outcome }) => outcome));
    over.abort();
    await givenUp;
    this.#openLots -= 1;
    // Who arrived is not told apart by lots.
    if (!beganAlone || this.#lots > lot) return outcomes;
    const answered = outcomes.filter(({ kind }) => kind === "answered").length;
    const isSilent = outcomes.some(({ kind }) => kind === "silence");
    if (isSilent && this.#arrivals - before > answered) {
      throw new Error("a packet arrived, but its answer did not come back");
    }
    return outcomes;
  }

  #start(call: StageCall): ReturnType<typeof startCall> {
    const host = { network: this.network, reactor: this.#reactor };
    return startCall(host, { ...call, fromPort: call.fromPort ?? this.#ports.next() });
  }

  async #fence({ party, from, to }: StageCall): Promise<void> {
    const node = NODE[familyOf(to)];
    await this.#start({
      party,
      protocol: "UDP",
      from: party === "node-a" ? node : from,
      to: node,
      port: FENCE_PORT,
    }).outcome;
  }
}
