/**
 * Lets many nodes watch one store: `watchers FILE COUNT`. Prints the resident megabytes once all are
 * synced, and the CPU time of one endpoint's change to all of them in ms, after it has seen that each
 * is sent what is for it and nothing else, also when its node moves to another zone.
 */
import type { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import type { NodeEndpoint, Op } from "../../src/core/view/ops.ts";
import { FULL_SIZE, nodeName, zoneName } from "../support/cluster.ts";
import { createStoreFrom, OWNER } from "../support/cluster-store.ts";
import { EndpointChanges } from "../support/endpoint-changes.ts";
import { collectGarbage, cpuMsOf, median, residentMegabytes } from "../support/measure.ts";
import { expectOnly, NodeState } from "../support/node-state.ts";

const ROUNDS = 30;
const CHECKS = 3;

const [path = "", count = ""] = process.argv.slice(2);
const store = createStoreFrom(path);
const watchers = Array.from({ length: Number(count) }, (_, index) => {
  const watcher = new NodeWatcher(store, nodeName(index), []);
  if (watcher.poll() === undefined) throw new Error(`${nodeName(index)} was sent nothing`);
  return watcher;
});
collectGarbage();
const megabytes = residentMegabytes();
const forAll = changesOf((item) => item.endpoint.ready && !isForSome(item));
const times = Array.from({ length: ROUNDS }, changeForAll);
const forSome = changesOf(isForSome);
for (let round = 0; round < CHECKS; round += 1) checkChangeForSome();
for (let index = 0; index < CHECKS; index += 1) checkMove(store, index);
console.log(JSON.stringify({ megabytes, cpuMs: median(times) }));

/** Whether only a zone or a node is sent it, by hints or by policy Local. */
function isForSome({ endpoint, ports }: NodeEndpoint): boolean {
  return endpoint.hints.zones.length > 0 || ports.every((port) => port.clusterFor.length === 0);
}

function changesOf(isWanted: (item: NodeEndpoint) => boolean): EndpointChanges {
  return new EndpointChanges(store, new NodeWatcher(store, nodeName(0), []).poll() ?? [], isWanted);
}

function changeForAll(): number {
  const { path, commit } = forAll.next();
  let answers: readonly (readonly Op[] | undefined)[] = [];
  const time = cpuMsOf(() => {
    commit();
    answers = watchers.map((watcher) => watcher.poll());
  });
  for (const ops of answers) expectOnly(ops, path);
  return time;
}

/** In each zone, a node is sent the change just where a newcomer in its place would have the item. */
function checkChangeForSome(): void {
  const { path, commit } = forSome.next();
  commit();
  const answers = watchers.map((watcher) => watcher.poll());
  for (const [index, ops] of answers.slice(0, FULL_SIZE.zones).entries()) {
    if (wholeStateOf(nodeName(index)).has("endpoints", path)) expectOnly(ops, path);
    else if (ops !== undefined) throw new Error(`${nodeName(index)} was sent ${path}`);
  }
}

/** Moves a node to the next zone and compares with what a newcomer in its place is sent. */
function checkMove(store: GlobalStore, index: number): void {
  const node = store.state().nodes.get(nodeName(index));
  if (node === undefined) throw new Error(`${nodeName(index)} is missing`);
  const watcher = new NodeWatcher(store, node.name, []);
  const sent = new NodeState();
  sent.apply(watcher.poll() ?? []);
  store.transact(OWNER, (tx) => tx.set({ ...node, zone: zoneName(index + 1) }));
  const moved = watcher.poll() ?? [];
  if (moved.length < 2) throw new Error("a node's move to another zone changed nothing");
  sent.apply(moved);
  sent.expectEqual(wholeStateOf(node.name));
  for (const [other, ops] of watchers.map((one) => one.poll()).entries()) {
    if (other !== index && ops !== undefined) throw new Error(`${nodeName(other)} was sent a move`);
  }
}

function wholeStateOf(node: string): NodeState {
  const state = new NodeState();
  state.apply(new NodeWatcher(store, node, []).poll() ?? []);
  return state;
}
