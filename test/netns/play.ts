import { onTestFinished } from "vitest";
import { FAMILIES, type Family } from "../../src/core/model/address.ts";
import type { Protocol } from "../../src/core/model/common.ts";
import { endpointSchema } from "../../src/core/model/endpoint.ts";
import { nodeSchema } from "../../src/core/model/node.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { serviceSchema } from "../../src/core/model/service.ts";
import {
  type Addresses,
  TOPOLOGY,
  type WorkloadName,
} from "../../src/core/route/scenarios/topology.ts";
import { runCli } from "../support/cli.ts";
import type { RawOptions } from "./backend-messages.ts";
import { BackendProcess } from "./backend-process.ts";
import type { CallOutcome } from "./call.ts";
import { parseGreeting } from "./greeting.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import { Stage } from "./stage.ts";

/** A backend that programs the kernel, and how others harm what it programmed. */
export interface OverTimeSubject {
  readonly backend: string;
  /** With no pause between syncs. */
  readonly options: RawOptions;
  /** Makes it repair what others altered in no time. */
  readonly quickRepair: RawOptions;
  /** Takes all its rules away from outside. */
  readonly harm: (network: NamespaceNetwork) => void;
}

const { workloads, clusterIP, outside, nodes, port, targetPort } = TOPOLOGY;
export const NODE_IPS: Addresses = nodes["node-a"].addresses;

export const NODE: ModelObject = nodeSchema.parse({
  kind: "Node",
  name: "node-a",
  addresses: both(NODE_IPS),
});

export function both(addresses: Addresses): readonly string[] {
  return FAMILIES.map((family) => addresses[family]);
}

/** Both families have it: whatever holds for one has to hold for the other. */
export function service(more: object = {}): ModelObject {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: both(clusterIP),
    ports: [{ name: "main", port, targetPort }],
    ...more,
  });
}

export function endpoint(workload: WorkloadName, more: object = {}): ModelObject {
  const { node, addresses } = workloads[workload];
  const base = { kind: "Endpoint", name: workload, group: "web", node };
  return endpointSchema.parse({ ...base, addresses: both(addresses), ...more });
}

/** Who calls where: from outside to the cluster IP by TCP, unless it says otherwise. */
interface Way {
  readonly party?: PartyName;
  readonly from?: string;
  readonly protocol?: Protocol;
  readonly fromPort?: number;
  readonly to?: Addresses;
  readonly port?: number;
}

/** A node under test with a backend on it. */
export class Play {
  readonly stage: Stage;
  #subject: OverTimeSubject;
  #backend: BackendProcess;

  private constructor(subject: OverTimeSubject, stage: Stage) {
    this.#subject = subject;
    this.stage = stage;
    this.#backend = new BackendProcess(stage.network);
  }

  static async open(subject: OverTimeSubject, more: RawOptions = {}): Promise<Play> {
    const play = new Play(subject, Stage.open());
    onTestFinished(async () => {
      await play.#backend.close();
      play.stage.close();
    });
    await play.#start(more);
    return play;
  }

  apply(...objects: readonly ModelObject[]): Promise<void> {
    return this.#backend.apply([NODE, ...objects]);
  }

  /** Ends the backend without a word. */
  crash(): Promise<void> {
    return this.#backend.kill();
  }

  /** Ends the backend without a word, and starts another one. */
  async restart(...objects: readonly ModelObject[]): Promise<void> {
    await this.crash();
    this.#backend = new BackendProcess(this.stage.network);
    await this.#start({});
    await this.apply(...objects);
  }

  /** Ends the backend with all that it programmed, and starts another kind. */
  async switchTo(subject: OverTimeSubject, ...objects: readonly ModelObject[]): Promise<void> {
    await this.#backend.close();
    this.#subject = subject;
    this.#backend = new BackendProcess(this.stage.network);
    await this.#start({});
    await this.apply(...objects);
  }

  /** Ends the backend without a word, and starts another kind; then what the first one left is removed. */
  async replaceBy(subject: OverTimeSubject, ...objects: readonly ModelObject[]): Promise<void> {
    const { backend } = this.#subject;
    await this.crash();
    this.#subject = subject;
    this.#backend = new BackendProcess(this.stage.network);
    await this.#start({});
    await this.apply(...objects);
    const args = ["cleanup", "--to", backend];
    const { code, stderr } = await this.stage.network.inside("node-a", () => runCli(args));
    if (code !== 0) throw new Error(`${args.join(" ")} failed: ${stderr}`);
  }

  /** Who answers in both families, as `workload:port`, or what else becomes of it. */
  async call(way: Way = {}): Promise<string> {
    const [v4 = "", v6 = ""] = await Promise.all(
      FAMILIES.map((family) => this.callOver(family, way)),
    );
    return v4 === v6 ? v4 : `${v4} over IPv4, ${v6} over IPv6`;
  }

  async callOver(family: Family, way: Way = {}): Promise<string> {
    const [answer = "nothing"] = await this.callMany(family, 1, way);
    return answer;
  }

  /** All who answer many calls in a family. */
  async answerers(family: Family, count: number, way: Way = {}): Promise<ReadonlySet<string>> {
    return new Set(await this.callMany(family, count, way));
  }

  async callMany(family: Family, count: number, way: Way = {}): Promise<readonly string[]> {
    const { to = clusterIP, protocol = "TCP", ...more } = way;
    const base = { party: "outside", from: outside[family], port } as const;
    const call = { ...base, ...more, protocol, to: to[family] };
    return (await this.stage.call(Array.from({ length: count }, () => call))).map(textOf);
  }

  harm(): void {
    this.#subject.harm(this.stage.network);
  }

  #start(more: RawOptions): Promise<void> {
    return this.#backend.start(this.#subject.backend, { ...this.#subject.options, ...more });
  }
}

function textOf(outcome: CallOutcome): string {
  if (outcome.kind !== "answered") return outcome.kind;
  const { at: ip, port: on } = parseGreeting(outcome.text);
  const name = WORKLOAD_NAMES.find((one) => both(workloads[one].addresses).includes(ip));
  return `${name ?? ip}:${on}`;
}

const WORKLOAD_NAMES: readonly WorkloadName[] = ["client-a", "web-a", "web-b", "web-c"];

export function at(workload: WorkloadName, on: number = targetPort): string {
  return `${workload}:${on}`;
}
