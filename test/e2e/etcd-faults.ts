import { expect } from "vitest";
import { startEtcd } from "../support/etcd.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { contents, follow, put, service } from "./etcd-followed.ts";
import { EtcdHistory } from "./etcd-history.ts";

/** After any history the store has what etcd has, and what was there all the time was never gone. */
export async function checkHistory(seed: number, steps: number): Promise<void> {
  const etcd = await startEtcd({ members: 3 });
  const client = etcd.client();
  await client.transact([], [put(service("stays", "10.0.0.1"))]);
  const { store, until } = await follow(etcd);
  await until(() => contents(store).has("Service stays"));
  const deleted = new Set<string>();
  store.onCommit(({ changes }) => {
    for (const { action, key } of changes) if (action === "delete") deleted.add(key);
  });
  const history = new EtcdHistory(etcd, client, seededRandom(seed));
  const done: string[] = [];
  for (let step = 0; step < steps; step += 1) done.push(await history.step());
  await history.settle();
  await client.transact([], [put(service("last", "10.0.0.2"))]);
  await until(() => contents(store).has("Service last"));
  const wanted = await history.contents();
  const byName = [...wanted.values()].map(
    (object) => [`${object.kind} ${object.name}`, object] as const,
  );
  expect(contents(store), `seed ${seed}: ${done.join(", ")}`).toEqual(new Map(byName));
  expect(deleted).not.toContain("default/stays");
}
