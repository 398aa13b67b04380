import { type Endpoint, endpointSchema } from "../../core/model/endpoint.ts";
import { nodeSchema } from "../../core/model/node.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { type Service, serviceSchema } from "../../core/model/service.ts";
import type { ValuesOf } from "../../core/options/option-spec.ts";
import { flagLayer, resolveOptions } from "../../core/options/resolve-options.ts";
import type { Sink } from "../../core/sinks/sink.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import type { Op } from "../../core/view/ops.ts";
import type { FakeHcn } from "../../platform/windows/fake.ts";
import type { HcnCalls } from "../../platform/windows/hcn-calls.ts";
import type { BackendContext } from "../backend.ts";
import { HCN_OPTIONS } from "./options.ts";
import type { HcnWorld } from "./world.ts";

export const NODE_NAME = "here";
export const NETWORK_ID = "0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11";

export const NODE: ModelObject = nodeSchema.parse({
  kind: "Node",
  name: NODE_NAME,
  addresses: ["192.0.2.1", "fd00::1"],
});

/** `default/NAME`, at 10.96.0.1:80 where nothing else is said. */
export function service(name: string, more: Readonly<Record<string, unknown>> = {}): Service {
  return serviceSchema.parse({
    kind: "Service",
    name,
    clusterIPs: ["10.96.0.1"],
    ports: [{ port: 80, targetPort: 8080 }],
    ...more,
  });
}

/** Of `default/GROUP`, on another node where nothing else is said. */
export function endpoint(
  group: string,
  ip: string,
  more: Readonly<Record<string, unknown>> = {},
): Endpoint {
  const name = `${group}-${ip.replaceAll(/[.:]/g, "-")}`;
  return endpointSchema.parse({
    kind: "Endpoint",
    name,
    group,
    addresses: [ip],
    node: "there",
    ...more,
  });
}

export function networkJson(more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    ID: NETWORK_ID,
    Name: "cbr0",
    Type: "L2Bridge",
    Ipams: [{ Subnets: [{ IpAddressPrefix: "10.1.0.0/24" }, { IpAddressPrefix: "fd01::/64" }] }],
    SchemaVersion: { Major: 2, Minor: 0 },
    ...more,
  });
}

/** A local endpoint, as a CNI plugin makes them. @returns its id */
export function seedLocal(fake: FakeHcn, ip: string, networkId: string = NETWORK_ID): string {
  const id = `11111111-0000-4000-8000-${Buffer.from(ip).toString("hex").slice(-12).padStart(12, "0")}`;
  fake.seed(
    "Endpoint",
    id,
    JSON.stringify({
      ID: id,
      Name: `pod-${ip}`,
      HostComputeNetwork: networkId,
      IpConfigurations: [{ IpAddress: ip, PrefixLength: 24 }],
    }),
  );
  return id;
}

export function optionsOf(
  flags: Readonly<Record<string, unknown>> = {},
): ValuesOf<typeof HCN_OPTIONS> {
  const { values, problems } = resolveOptions(HCN_OPTIONS, [
    flagLayer({ networkName: "cbr0", ...flags }),
  ]);
  if (values === undefined) throw new Error(JSON.stringify(problems));
  return values;
}

/** A world whose periods pass when a test says so. */
export class TestWorld implements HcnWorld {
  readonly ticks: (() => Promise<void>)[] = [];
  readonly #calls: HcnCalls;
  isLocked = false;

  constructor(calls: HcnCalls) {
    this.#calls = calls;
  }

  openCalls: HcnWorld["openCalls"] = async () => this.#calls;
  takeLock: HcnWorld["takeLock"] = async () => {
    this.isLocked = true;
    return {
      release: async () => {
        this.isLocked = false;
      },
    };
  };
  macOf: HcnWorld["macOf"] = (ip) => (ip === "192.0.2.1" ? "00-15-5D-00-00-01" : undefined);
  clock: HcnWorld["clock"] = {
    nowMs: () => 0,
    sleep: async () => undefined,
    every: (_periodMs, act) => {
      this.ticks.push(act);
      return () => undefined;
    },
  };

  /** The short period, then the long one. */
  async check(): Promise<void> {
    await this.ticks[0]?.();
  }

  async fullCheck(): Promise<void> {
    await this.ticks[1]?.();
  }
}

export function testContext(warnings: string[] = []): BackendContext {
  const silent = (): void => undefined;
  const log = {
    debug: silent,
    info: silent,
    error: silent,
    warn: (_: object, text: string) => void warnings.push(text),
  };
  return { nodeName: NODE_NAME, log, stdout: process.stderr };
}

/** Feeds a sink with what a node is sent of objects, which replace each other. */
export class Feed {
  readonly #store = new GlobalStore();
  readonly #watcher = new NodeWatcher(this.#store, NODE_NAME, ["nodes"]);
  readonly #sink: Sink;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#store.markSynced("test");
  }

  async apply(...objects: readonly ModelObject[]): Promise<void> {
    this.#store.transact("test", (transaction) => transaction.replaceAll([NODE, ...objects]));
    await this.#sink.waitRequest();
    for (const op of this.#watcher.poll() ?? []) {
      if (op.op === "reset") this.#sink.reset();
      else await this.#sink.send(op);
    }
  }

  /** What is told again after a sync that failed. */
  async again(): Promise<void> {
    await this.#sink.send({ op: "sync" });
  }
}

/** What a node is sent of these objects. */
export function opsOf(objects: readonly ModelObject[]): readonly Op[] {
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll([NODE, ...objects]));
  store.markSynced("test");
  const watcher = new NodeWatcher(store, NODE_NAME, ["nodes"]);
  try {
    return watcher.poll() ?? [];
  } finally {
    watcher.close();
  }
}
