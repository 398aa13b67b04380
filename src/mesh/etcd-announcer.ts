import { announcedEndpoint } from "../brain/announcements/announced-instance.ts";
import { abortable } from "../core/abortable.ts";
import { CoreError } from "../core/errors.ts";
import type { Endpoint } from "../core/model/endpoint.ts";
import { keyOf } from "../core/model/object.ts";
import { EtcdClient } from "../engines/etcd/etcd-client.ts";
import type { EtcdClientOptions } from "../engines/etcd/etcd-options.ts";
import { Lease } from "../engines/etcd/lease.ts";
import {
  encodeStored,
  normalizePrefix,
  readStored,
  storedKey,
} from "../sources/etcd/stored-object.ts";
import type { Announcer } from "./announcer.ts";
import { MESH_OWNER } from "./mesh-owner.ts";
import { retryUntil } from "./retry-until.ts";

export interface EtcdAnnouncerOptions extends EtcdClientOptions {
  readonly where: string;
  readonly prefix: string;
  readonly maxObjectBytes: number;
  readonly ttlSeconds: number;
}

const MS_PER_SECOND = 1000;
/** So often within its time it is looked whether it is there. */
const LOOKS = 3;

/**
 * Announces with a lease: what a machine that dies has announced goes by itself. Another process that takes its
 * place binds the same key to a lease of its own, so that the end of the first one does not withdraw it.
 */
export function createEtcdAnnouncer(options: EtcdAnnouncerOptions): Announcer {
  const { where, ttlSeconds } = options;
  const client = new EtcdClient(options);
  let isLeft = false;
  return {
    where,
    announce: (instance, tell, signal) => {
      const endpoint = announcedEndpoint(instance);
      const attempt = async (made: () => void): Promise<void> => {
        const lease = await Lease.grant(client, ttlSeconds);
        try {
          await put(client, endpoint, lease, options);
          made();
          await keepThere(client, endpoint, lease, { ...options, signal });
        } finally {
          // What it withdraws, where it can; its end does otherwise.
          if (isLeft) lease.abandon();
          else await lease.revoke().catch(() => undefined);
        }
      };
      return retryUntil(attempt, tell, signal, options);
    },
    leave: () => {
      isLeft = true;
    },
    close: () => client.close(),
  };
}

/** Until the lease is lost or the signal comes. */
async function keepThere(
  client: EtcdClient,
  endpoint: Endpoint,
  lease: Lease,
  { signal, ...options }: EtcdAnnouncerOptions & { readonly signal: AbortSignal },
): Promise<never> {
  const ended = new AbortController();
  const looking = lookAgain(client, endpoint, lease, { ...options, signal: ended.signal });
  try {
    return await abortable(Promise.race([lease.lost, looking]), signal);
  } finally {
    ended.abort();
  }
}

/** The lease may stand while the key is gone: somebody removed it, or bound it to a lease that has ended. */
async function lookAgain(
  client: EtcdClient,
  endpoint: Endpoint,
  lease: Lease,
  { signal, ...options }: EtcdAnnouncerOptions & { readonly signal: AbortSignal },
): Promise<never> {
  const key = keyIn(options, endpoint);
  for (;;) {
    await options.sleep((options.ttlSeconds * MS_PER_SECOND) / LOOKS, signal);
    // Where etcd does not answer the lease will tell.
    const found = await client.range({ key }).catch(() => undefined);
    if (found?.kvs.length === 0) await put(client, endpoint, lease, options);
  }
}

function keyIn({ prefix }: Pick<EtcdAnnouncerOptions, "prefix">, endpoint: Endpoint): Buffer {
  return Buffer.from(storedKey(normalizePrefix(prefix), "Endpoint", keyOf(endpoint)));
}

async function put(
  client: EtcdClient,
  endpoint: Endpoint,
  { id }: Lease,
  options: EtcdAnnouncerOptions,
): Promise<void> {
  const { maxObjectBytes } = options;
  const prefix = normalizePrefix(options.prefix);
  const key = keyIn(options, endpoint);
  const { kvs } = await client.range({ key });
  const [present] = kvs;
  const stored = present && readStored(prefix, present, maxObjectBytes);
  if (stored?.ok === true && stored.owner !== MESH_OWNER) {
    throw new CoreError(
      "ERR_KEY_TAKEN",
      `Endpoint ${keyOf(endpoint)} is of ${JSON.stringify(stored.owner)} in etcd; expected none, or one that was announced`,
    );
  }
  const value = encodeStored({ owner: MESH_OWNER, object: endpoint });
  const { succeeded } = await client.transact(
    [{ what: "unchanged", key, modRevision: present?.modRevision ?? 0 }],
    [{ op: "put", key, value, lease: id }],
  );
  if (!succeeded) {
    throw new CoreError(
      "ERR_KEY_TAKEN",
      `Endpoint ${keyOf(endpoint)} was changed in etcd by somebody else at the same time`,
    );
  }
}
