import { backoffMs } from "../../core/backoff.ts";
import { CoreError } from "../../core/errors.ts";
import type { KeyValue } from "../../wire/etcd/kv-messages.ts";
import {
  readWatchResponse,
  type WatchEvent,
  type WatchResponse,
  watchFrame,
} from "../../wire/etcd/watch-messages.ts";
import type { EtcdClient, OpenStream } from "./etcd-client.ts";
import { isCompacted, refused, wrong } from "./etcd-errors.ts";
import { listRange } from "./list-range.ts";
import type { KeyRange } from "./prefix-range.ts";

/** Takes what is in a range and how it changes. What one of its methods throws is told by `failed`. */
export interface RangeFollower {
  /** A whole state begins: at the start, and where changes were missed. What was told before may be out of date. */
  begin(): void;
  page(kvs: readonly KeyValue[]): void | Promise<void>;
  /** All of it was told. */
  whole(revision: number): void;
  /** All that happened in one revision or in several that follow each other. */
  changed(events: readonly WatchEvent[], revision: number): void;
  /** Changes come from this member. */
  following(member: string): void;
  /** etcd has forgotten what was missed: the whole state will be told. */
  compacted?(): void;
  /** It goes on by itself, after a while. */
  failed(error: CoreError): void;
}

const WATCH = "/etcdserverpb.Watch/Watch";
/** More events than this in one answer are no answer that etcd gives. */
const MAX_EVENTS = 1_000_000;

/**
 * Follows a range of keys until the client is closed, whatever happens to connections and members: no change
 * is missed, none told twice, and where etcd has forgotten what was missed the whole state is told again.
 */
export async function followRange(
  client: EtcdClient,
  range: KeyRange,
  follower: RangeFollower,
): Promise<void> {
  const place = new Place(client, range, follower);
  let failures = 0;
  while (!client.signal.aborted) {
    try {
      await place.catchUp();
      await place.watch(() => {
        failures = 0;
      });
    } catch (cause) {
      if (client.signal.aborted) return;
      if (isCompacted(cause)) {
        follower.compacted?.();
        place.forget();
        continue;
      }
      failures += 1;
      follower.failed(cause instanceof CoreError ? cause : wrong(String(cause), cause));
      const waitMs = backoffMs(client.limits.backoff, failures, client.random());
      await client.sleep(waitMs).catch(() => undefined);
    }
  }
}

/** How far in the history of a range all was told. */
class Place {
  readonly #client: EtcdClient;
  readonly #range: KeyRange;
  readonly #follower: RangeFollower;
  #clusterId = 0n;
  /** 0: nothing was told yet, or too much was missed. */
  #revision = 0;

  constructor(client: EtcdClient, range: KeyRange, follower: RangeFollower) {
    this.#client = client;
    this.#range = range;
    this.#follower = follower;
  }

  forget(): void {
    this.#revision = 0;
  }

  /** Reads the whole state where there is none, or where this is another etcd than before. */
  async catchUp(): Promise<void> {
    if (this.#revision > 0) {
      const { header } = await this.#client.range({ ...this.#range, isCountOnly: true });
      if (header.clusterId === this.#clusterId && header.revision >= this.#revision) return;
    }
    this.#follower.begin();
    const take = (kvs: readonly KeyValue[]): void | Promise<void> => this.#follower.page(kvs);
    const header = await listRange(this.#client, this.#range, take);
    if (this.#client.signal.aborted) return;
    this.#follower.whole(header.revision);
    this.#clusterId = header.clusterId;
    this.#revision = header.revision;
  }

  /** Tells changes until it ends; rejects with why. */
  watch(onCreated: () => void): Promise<never> {
    const { key, end } = this.#range;
    let parts: WatchEvent[] = [];
    return new Promise<never>((_, reject) => {
      let stream: OpenStream | undefined;
      const leave = (error: unknown): void => {
        this.#client.signal.removeEventListener("abort", aborted);
        stream?.close();
        reject(error);
      };
      const aborted = (): void => leave(new CoreError("ERR_ABORTED", "the watch was ended"));
      const take = (response: WatchResponse): void => {
        this.#assertGoesOn(response);
        if (response.created) {
          stream?.worked();
          onCreated();
          this.#follower.following(stream?.member ?? "");
        }
        parts = parts.length === 0 ? [...response.events] : [...parts, ...response.events];
        if (parts.length > MAX_EVENTS) throw wrong(`more than ${MAX_EVENTS} events at once`);
        if (response.isPart) return;
        const events = parts;
        parts = [];
        this.#tell(events, response);
      };
      this.#client.signal.addEventListener("abort", aborted, { once: true });
      this.#client
        .openStream({
          path: WATCH,
          first: watchFrame(key, end, this.#revision + 1),
          onMessage: (reader) => {
            const response = readWatchResponse(reader);
            try {
              take(response);
            } catch (error) {
              leave(error);
            }
          },
          onEnd: leave,
        })
        .then((opened) => {
          stream = opened;
          if (this.#client.signal.aborted) opened.close();
        }, leave);
    });
  }

  #assertGoesOn({ canceled, compactRevision, cancelReason }: WatchResponse): void {
    if (!canceled) return;
    if (compactRevision > 0) {
      throw new CoreError("ERR_ETCD_COMPACTED", `etcd keeps nothing before ${compactRevision}`);
    }
    // A token that is no longer good is refused with the same words as a user without permission.
    this.#client.forgetToken();
    throw refused(cancelReason === "" ? "the watch was ended" : cancelReason);
  }

  #tell(events: readonly WatchEvent[], { header, created }: WatchResponse): void {
    const fresh = events.filter(({ kv }) => kv.modRevision > this.#revision);
    const last = fresh.at(-1);
    if (last !== undefined) {
      this.#follower.changed(fresh, last.kv.modRevision);
      this.#revision = last.kv.modRevision;
    } else if (!created && header.revision > this.#revision) this.#revision = header.revision;
  }
}
