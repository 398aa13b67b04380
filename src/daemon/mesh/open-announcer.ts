import { MIN_TTL_MS } from "../../brain/announcements/announced-instance.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import type { Announcer } from "../../mesh/announcer.ts";
import type { InstanceConfig } from "../config.ts";
import type { InstanceDeps } from "../instance-deps.ts";
import { apiTlsOf } from "../tls-options.ts";

const MS_PER_SECOND = 1000;

/**
 * Where this instance announces: in the etcd that it follows, or else to the API that it follows, or else to
 * itself and those who follow it.
 */
export async function openAnnouncer(
  store: GlobalStore,
  { sources, values, etcd, identity }: InstanceConfig,
  { random, sleep }: Pick<InstanceDeps, "random" | "sleep">,
): Promise<Announcer> {
  const world = { random, sleep };
  const ttlMs = Math.max(values.announceTtl, MIN_TTL_MS);
  for (const source of sources) {
    if (source.kind !== "etcd" || etcd === undefined) continue;
    const { createEtcdAnnouncer } = await import("../../mesh/etcd-announcer.ts");
    const { owner: where, members } = source;
    return createEtcdAnnouncer({
      ...etcd,
      ...world,
      where,
      members,
      ttlSeconds: Math.ceil(ttlMs / MS_PER_SECOND),
    });
  }
  for (const source of sources) {
    if (source.kind !== "api") continue;
    const { createApiAnnouncer } = await import("../../mesh/api-announcer.ts");
    const { owner: where, address } = source;
    const tls = apiTlsOf(source, { values, identity: identity?.files });
    return createApiAnnouncer({ ...world, where, address, tls, ttlMs });
  }
  const { createLocalAnnouncer } = await import("../../mesh/local-announcer.ts");
  return createLocalAnnouncer(store, world);
}
