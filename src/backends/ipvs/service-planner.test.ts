import { expect, test } from "vitest";
import { FAMILIES } from "../../core/model/address.ts";
import { endpointSchema } from "../../core/model/endpoint.ts";
import { nodeSchema } from "../../core/model/node.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { serviceSchema } from "../../core/model/service.ts";
import { resolveOptions } from "../../core/options/resolve-options.ts";
import { createFullStateSink } from "../../core/sinks/fullstate.ts";
import { GlobalStore } from "../../core/store/global-store.ts";
import { NodeWatcher } from "../../core/view/node-watcher.ts";
import { KERNEL_SETS } from "../kernel-options.ts";
import { IPVS_OPTIONS } from "./options.ts";
import { ServicePlanner } from "./service-planner.ts";
import { settingsOf } from "./settings.ts";

const NODE = "node-a";

/** A planner that is fed as the backend is. */
function planner(): { planner: ServicePlanner; apply(...objects: ModelObject[]): Promise<void> } {
  const { values } = resolveOptions(IPVS_OPTIONS, []);
  if (values === undefined) throw new Error("the defaults are not valid");
  const made = new ServicePlanner(settingsOf(values), NODE, FAMILIES);
  const store = new GlobalStore();
  const watcher = new NodeWatcher(store, NODE, KERNEL_SETS);
  const sink = createFullStateSink({
    waitRequest: () => ({ nodeName: NODE, sets: KERNEL_SETS }),
    apply: async (state, changed) => void made.plan(state, changed),
  });
  const apply = async (...objects: ModelObject[]): Promise<void> => {
    store.transact("test", (transaction) => transaction.replaceAll([NODE_OBJECT, ...objects]));
    store.markSynced("test");
    for (const op of watcher.poll() ?? []) {
      if (op.op === "reset") sink.reset();
      else await sink.send(op);
    }
  };
  return { planner: made, apply };
}

const NODE_OBJECT = nodeSchema.parse({ kind: "Node", name: NODE, addresses: ["192.168.100.1"] });

/** Outsiders come to endpoints of this node only, so that insiders have a mark. */
function local(name: string, more: object = {}): ModelObject[] {
  const base = { kind: "Service", name, externalTrafficPolicy: "Local" };
  const ports = [{ name: "main", port: 80, targetPort: 8080 }];
  return [
    serviceSchema.parse({ ...base, loadBalancerIPs: [`203.0.113.${name.length}`], ports, ...more }),
    endpointSchema.parse({
      kind: "Endpoint",
      name: `${name}-b`,
      group: name,
      node: "node-b",
      addresses: ["10.244.2.2"],
    }),
  ];
}

test("marks of insiders are taken while services need them, and free when they do not", async () => {
  const { planner: made, apply } = planner();
  await apply(...local("a"), ...local("bb"));
  expect(made.marks.size).toBe(2);
  await apply(...local("a"), ...local("bb", { externalTrafficPolicy: "Cluster" }));
  expect(made.marks.size).toBe(1);
  await apply();
  expect(made.marks.size).toBe(0);
});
