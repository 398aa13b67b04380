import { once } from "node:events";
import { announcedEndpoint } from "../brain/announcements/announced-instance.ts";
import { keyOf } from "../core/model/object.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import type { Announcer } from "./announcer.ts";
import { MESH_OWNER } from "./mesh-owner.ts";
import { type RetryWorld, retryUntil } from "./retry-until.ts";

/** Announces in the store of this instance: to itself, and where it serves the API to those who follow it. */
export function createLocalAnnouncer(store: GlobalStore, world: RetryWorld): Announcer {
  return {
    where: "this instance",
    announce: async (instance, tell, signal) => {
      const endpoint = announcedEndpoint(instance);
      let isMade = false;
      const attempt = async (made: () => void): Promise<void> => {
        store.transact(MESH_OWNER, (transaction) => transaction.set(endpoint));
        isMade = true;
        made();
        if (!signal.aborted) await once(signal, "abort");
      };
      await retryUntil(attempt, tell, signal, world);
      if (!isMade) return;
      store.transact(MESH_OWNER, (transaction) => transaction.delete("Endpoint", keyOf(endpoint)));
    },
    // The store of another process is another one.
    leave: () => undefined,
    close: () => undefined,
  };
}
