/** `cluster SERVICES ENDPOINTS NODES`: an API server with a made-up cluster, told by its parent what to change. */
import { setTimeout as wait } from "node:timers/promises";
import * as z from "zod";
import { type KubeObject, KubeServer } from "../../../test/support/kube-server.ts";
import { createManifests } from "../../support/manifests.ts";
import { createRandom } from "../../support/random.ts";
import {
  type ClusterOrder,
  type ClusterReply,
  clusterOrderSchema,
  nowMs,
  POD_PREFIX,
} from "../messages.ts";

const SEED = 41;
const EVENTS_A_TURN = 200;
const TURN_MS = 10;

const objectSchema = z.looseObject({
  kind: z.string(),
  apiVersion: z.string(),
  metadata: z.looseObject({ name: z.string() }),
});
const sliceSchema = z.looseObject({ endpoints: z.array(z.looseObject({})) });

const [services = 0, endpointsPerService = 0, nodes = 0] = process.argv.slice(2).map(Number);
const server = await KubeServer.start();
for (const manifest of createManifests({ services, endpointsPerService, nodes, zones: 10 })) {
  server.put(objectSchema.parse(manifest));
}
const random = createRandom(SEED);
const pick = (kind: string): KubeObject => {
  const objects = byKind.get(kind) ?? [];
  const name = objects[Math.floor(random() * objects.length)];
  const object = name && server.get(name);
  if (object === undefined) throw new Error(`there is no ${kind}`);
  return object;
};
const byKind = new Map(
  ["Node", "Service", "EndpointSlice"].map((kind) => [kind, server.objects(kind)]),
);

process.on("message", (raw) => void obey(clusterOrderSchema.parse(raw)));
process.on("disconnect", () => process.exit());
tell({ is: "listening", url: server.url });

function tell(reply: ClusterReply): void {
  process.send?.(reply);
}

async function obey(order: ClusterOrder): Promise<void> {
  if (order.do === "change") await change(order.count, order.perSecond);
  else await passDay(order.events, order.changes);
  tell({ is: "done" });
}

async function change(count: number, perSecond: number): Promise<void> {
  const startMs = nowMs();
  for (let index = 0; index < count; index += 1) {
    changeEndpoint();
    const dueMs = startMs + ((index + 1) * 1000) / perSecond;
    await wait(Math.max(0, dueMs - nowMs()));
  }
}

/** One pod of a slice is replaced by another. */
function changeEndpoint(): void {
  const slice = pick("EndpointSlice");
  const { endpoints } = sliceSchema.parse(slice);
  const at = Math.floor(random() * endpoints.length);
  const targetRef = { kind: "Pod", name: `${POD_PREFIX}${nowMs()}` };
  const conditions = { ready: true, serving: true, terminating: false };
  server.put({
    ...slice,
    endpoints: endpoints.map((one, index) =>
      index === at ? { ...one, conditions, targetRef } : one,
    ),
  });
}

/** Heartbeats of nodes above all, then what controllers and people write on objects; few real changes. */
async function passDay(events: number, changes: number): Promise<void> {
  const each = Math.floor(events / changes);
  for (let index = 0; index < events; index += 1) {
    if (index % each === 0 && index / each < changes) changeEndpoint();
    else touch(index);
    if (index % EVENTS_A_TURN === 0) await wait(TURN_MS);
  }
}

function touch(index: number): void {
  const lot = random();
  const kind = lot < 0.8 ? "Node" : lot < 0.9 ? "Service" : "EndpointSlice";
  const object = pick(kind);
  const beat = `beat-${index}`;
  const { metadata } = object;
  const annotations = { ...metadata.annotations, "example.com/beat": beat };
  server.put({ ...object, metadata: { ...metadata, annotations }, beat });
}
