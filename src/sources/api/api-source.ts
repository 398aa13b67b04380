import { CoreError } from "../../core/errors.ts";
import { keyOf } from "../../core/model/object.ts";
import type { Commit, GlobalStore } from "../../core/store/global-store.ts";
import { ProtoWriter } from "../../wire/protobuf/proto-writer.ts";
import { FURTHER_KIND_ID } from "../../wire/sets/set-id.ts";
import { writeWatchRequest } from "../../wire/sets/watch-request.ts";
import type { Source, SourceReporter } from "../source.ts";
import { ApiClient, type ApiClientOptions } from "./api-client.ts";
import { type ObjectChange, ObjectMirror } from "./object-mirror.ts";

export interface ApiSourceOptions extends ApiClientOptions {
  readonly owner: string;
}

/** A source that follows the whole state of an API: another Portolan's, or a KPNG server's. */
export function createApiSource(options: ApiSourceOptions): Source {
  const { owner } = options;
  let client: ApiClient | undefined;
  let running: Promise<void> = Promise.resolve();
  let isClosed = false;
  return {
    owner,
    start: async (store, report) => {
      if (isClosed) return;
      store.register(owner);
      client = new ApiClient(options, "/globalv1.Sets/Watch", report);
      running = follow(client, store, owner, report);
    },
    close: async () => {
      isClosed = true;
      client?.close();
      await running;
    },
  };
}

async function follow(
  client: ApiClient,
  store: GlobalStore,
  owner: string,
  report: SourceReporter,
): Promise<void> {
  const mirror = new ObjectMirror((change) => applyChange(store, owner, change));
  const request = wholeRequest();
  try {
    while (!client.signal.aborted) await client.next(() => request, mirror);
  } catch (error) {
    if (!client.signal.aborted) {
      report.failed(new CoreError("ERR_API_PROTOCOL", "the API source ended", { cause: error }));
    }
  }
}

/**
 * One change, one transaction. Where the store refuses it, the client begins anew and is sent the
 * whole state, until it fits.
 */
function applyChange(store: GlobalStore, owner: string, change: ObjectChange): Commit {
  const commit = store.transact(owner, (transaction) => {
    if (change.isWhole) {
      transaction.replaceAll(change.sets);
      return;
    }
    for (const object of change.sets) transaction.set(object);
    for (const object of change.deletes) transaction.delete(object.kind, keyOf(object));
  });
  if (change.isWhole) store.markSynced(owner);
  return commit;
}

function wholeRequest(): Uint8Array {
  const writer = new ProtoWriter(64);
  writeWatchRequest(writer, "", Object.values(FURTHER_KIND_ID));
  return Uint8Array.from(writer.view());
}
