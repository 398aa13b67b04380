import { onTestFinished } from "vitest";
import { type ApiServer, createApiServer } from "../../src/brain/api-server.ts";
import type { ApiServerOptions } from "../../src/brain/api-server-options.ts";
import type { CoreError } from "../../src/core/errors.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { formatListenAddress } from "../../src/core/options/listen-address.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import type { ApiClientOptions } from "../../src/sources/api/api-client.ts";
import type { SourceReporter } from "../../src/sources/source.ts";

export const OWNER = "test";

/** A store that has all of `objects`. */
export function storeOf(objects: Iterable<ModelObject>): GlobalStore {
  const store = new GlobalStore();
  store.register(OWNER);
  store.transact(OWNER, (transaction) => transaction.replaceAll(objects));
  store.markSynced(OWNER);
  return store;
}

export interface Brain {
  readonly server: ApiServer;
  /** `HOST:PORT` */
  readonly address: string;
}

/** Serves the store on any free port until the test is over. */
export async function startBrain(
  store: GlobalStore,
  options: Partial<ApiServerOptions> = {},
): Promise<Brain> {
  const server = await createApiServer(store, {
    listen: { kind: "tcp", host: "127.0.0.1", port: 0 },
    closeTimeoutMs: 200,
    ...options,
  });
  onTestFinished(() => server.close());
  return { server, address: formatListenAddress(server.address) };
}

/** Remembers what it was told. */
export function createReport(): SourceReporter & { readonly failures: CoreError[]; oks: number } {
  const report = {
    failures: [] as CoreError[],
    oks: 0,
    ok: () => {
      report.oks += 1;
    },
    failed: (error: CoreError) => {
      report.failures.push(error);
    },
  };
  return report;
}

/** Options of a client that waits for nothing before it tries again. */
export function clientOptions(
  port: number,
  more: Partial<ApiClientOptions> = {},
): ApiClientOptions & { readonly waits: number[] } {
  const waits: number[] = [];
  return {
    address: { kind: "tcp", host: "127.0.0.1", port },
    random: () => 0,
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    waits,
    ...more,
  };
}

export function portOf({ server }: Brain): number {
  return server.address.kind === "tcp" ? server.address.port : 0;
}
