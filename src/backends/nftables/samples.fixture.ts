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
import { KERNEL_SETS } from "../kernel-options.ts";
import { NFTABLES_OPTIONS } from "./options.ts";

export const NODE_NAME = "here";

export const NODE: ModelObject = nodeSchema.parse({
  kind: "Node",
  name: NODE_NAME,
  addresses: ["192.0.2.1", "fd00::1"],
  subnets: ["10.1.0.0/24"],
});

/** `default/web` at 10.96.0.1:80. */
export function service(more: Readonly<Record<string, unknown>> = {}): Service {
  return serviceSchema.parse({
    kind: "Service",
    name: "web",
    clusterIPs: ["10.96.0.1"],
    ports: [{ port: 80, targetPort: 8080 }],
    ...more,
  });
}

/** Of `default/web`, at 10.1.0.NUMBER, on another node. */
export function endpoint(number: number, more: Readonly<Record<string, unknown>> = {}): Endpoint {
  return endpointSchema.parse({
    kind: "Endpoint",
    name: `web-${number}`,
    group: "web",
    addresses: [`10.1.0.${number}`],
    node: "there",
    ...more,
  });
}

export function optionsOf(
  flags: Readonly<Record<string, unknown>> = {},
): ValuesOf<typeof NFTABLES_OPTIONS> {
  const { values, problems } = resolveOptions(NFTABLES_OPTIONS, [flagLayer(flags)]);
  if (values === undefined) throw new Error(JSON.stringify(problems));
  return values;
}

/** Feeds a sink with what a node is sent of objects, which replace each other. */
export class Feed {
  readonly #store = new GlobalStore();
  readonly #watcher: NodeWatcher;
  readonly #sink: Sink;

  constructor(sink: Sink) {
    this.#sink = sink;
    this.#store.markSynced("test");
    this.#watcher = new NodeWatcher(this.#store, NODE_NAME, KERNEL_SETS);
  }

  async apply(...objects: readonly ModelObject[]): Promise<void> {
    this.#store.transact("test", (transaction) => transaction.replaceAll(objects));
    await this.#sink.waitRequest();
    for (const op of this.#watcher.poll() ?? []) {
      if (op.op === "reset") this.#sink.reset();
      else await this.#sink.send(op);
    }
  }
}

/** What a node is sent of these objects. */
export function opsOf(objects: readonly ModelObject[]): readonly Op[] {
  const store = new GlobalStore();
  store.transact("test", (transaction) => transaction.replaceAll(objects));
  store.markSynced("test");
  const watcher = new NodeWatcher(store, NODE_NAME, KERNEL_SETS);
  try {
    return watcher.poll() ?? [];
  } finally {
    watcher.close();
  }
}
