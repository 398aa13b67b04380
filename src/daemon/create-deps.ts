import type { Log } from "../core/log.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import type { InstanceConfig } from "./config.ts";
import { createSource } from "./create-source.ts";
import type { ApiAttachment, InstanceDeps } from "./instance-deps.ts";
import { createPresence } from "./presence.ts";
import { readThisMachine } from "./this-machine.ts";
import { apiTlsOf, serverTlsOf } from "./tls-options.ts";
import { readVersion } from "./version.ts";
import { WORLD } from "./world.ts";

const MS_PER_SECOND = 1000;

/** All that an instance takes from the real world. */
export function createDeps(log: Log, stdout: NodeJS.WritableStream): InstanceDeps {
  return {
    ...WORLD,
    log,
    stdout,
    machine: readThisMachine(),
    version: readVersion(),
    nowMs: () => Date.now(),
    monotonicSeconds: () => performance.now() / MS_PER_SECOND,
    createSource: (spec, config) =>
      createSource(spec, config.values, {
        ...WORLD,
        etcd: config.etcd,
        identity: config.identity?.files,
        // Who serves other nodes, or lets commands ask for any, knows all of them.
        node: config.servesApi || config.control !== undefined ? undefined : config.node,
      }),
    startApi: (store, config) => startApi(store, config, log),
    createPresence: ({ values: { state }, control }) =>
      createPresence(state, log, state !== undefined || control !== undefined),
    watchApi: async (spec, config, request, report) => {
      const { watchNode } = await import("../sources/api/watch-node.ts");
      const tls = apiTlsOf(spec, { values: config.values, identity: config.identity?.files });
      return watchNode({ address: spec.address, tls, ...WORLD }, request, report);
    },
  };
}

async function startApi(
  store: GlobalStore,
  config: InstanceConfig,
  log: Log,
): Promise<ApiAttachment> {
  const { values, manager, control } = config;
  if (manager !== undefined && control !== undefined) {
    const { startManager } = await import("./manager/start-manager.ts");
    return startManager(store, { ...config, manager }, { log, stateFolder: control.stateFolder });
  }
  const { createApiServer } = await import("../brain/api-server.ts");
  const announcements = values.apiAnnouncements
    ? await (await import("./mesh/open-announcements.ts")).openAnnouncements(
        store,
        log,
        control?.stateFolder,
      )
    : undefined;
  const server = await createApiServer(store, {
    listen: values.apiListen,
    tls: serverTlsOf(values),
    maxMessageBytes: values.apiMaxMessageBytes,
    gate: announcements?.gate,
    log,
  });
  return {
    address: server.address,
    watchers: () => server.stats().watchers,
    metrics: () => announcements?.metrics() ?? [],
    close: async () => {
      await server.close();
      await announcements?.close();
    },
  };
}
