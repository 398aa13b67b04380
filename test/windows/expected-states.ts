import { createHcnBackend } from "../../src/backends/hcn/hcn-backend.ts";
import {
  endpoint,
  NETWORK_ID,
  NODE,
  NODE_NAME,
  networkJson,
  optionsOf,
  service,
  TestWorld,
  testContext,
} from "../../src/backends/hcn/hcn-rig.fixture.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import type { Op } from "../../src/core/view/ops.ts";
import { FakeHcn } from "../../src/platform/windows/fake.ts";

const web = service("web", {
  clusterIPs: ["10.96.0.1", "fd96::1"],
  externalIPs: ["198.51.100.1"],
  affinitySeconds: 60,
  ports: [{ port: 80, nodePort: 30080, targetPort: 8080 }],
});
const shop = service("shop", { clusterIPs: ["10.96.0.2"] });
const STATES: readonly (readonly ModelObject[])[] = [
  [
    web,
    shop,
    endpoint("web", "10.1.2.1"),
    endpoint("web", "fd02::1"),
    endpoint("shop", "10.1.2.1"),
  ],
  [
    web,
    shop,
    endpoint("web", "10.1.2.2"),
    endpoint("web", "fd02::1"),
    endpoint("shop", "10.1.2.1"),
  ],
  [shop, endpoint("shop", "10.1.2.3")],
];

/** What a node is sent, state by state. */
export function stepsOfStates(): readonly (readonly Op[])[] {
  const store = new GlobalStore();
  store.markSynced("test");
  const watcher = new NodeWatcher(store, NODE_NAME, ["nodes"]);
  return STATES.map((objects) => {
    store.transact("test", (transaction) => transaction.replaceAll([NODE, ...objects]));
    return watcher.poll() ?? [];
  });
}

/** What the fake holds after each step. */
export async function onTheFake(
  steps: readonly (readonly Op[])[],
): Promise<readonly (readonly unknown[])[]> {
  const fake = new FakeHcn();
  fake.seed("Network", NETWORK_ID, networkJson());
  const { sink } = await createHcnBackend(optionsOf(), testContext(), new TestWorld(fake));
  const states: (readonly unknown[])[] = [];
  for (const ops of steps) {
    for (const op of ops) {
      if (op.op === "reset") sink.reset();
      else await sink.send(op);
    }
    const all = [...fake.all("Endpoint").values(), ...fake.all("LoadBalancer").values()];
    states.push(all.sort().map((json) => JSON.parse(json)));
  }
  return states;
}
