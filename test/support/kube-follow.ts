import { onTestFinished } from "vitest";
import type { CoreError } from "../../src/core/errors.ts";
import { KINDS, type ModelObject } from "../../src/core/model/object.ts";
import { RawReader } from "../../src/core/model/raw-reader.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { createPlainCredentials } from "../../src/engines/kubernetes/credentials.ts";
import { createKubeSource, type KubeSourceOptions } from "../../src/sources/kube/kube-source.ts";
import { type KeptMetadata, kubeReaders } from "../../src/sources/kube/read-kube-objects.ts";
import type { Source } from "../../src/sources/source.ts";
import { KubeServer, type KubeServerOptions } from "./kube-server.ts";

const OWNER = "kube";

const KEPT: KeptMetadata = {
  serviceLabels: [],
  serviceAnnotations: ["*portolan*"],
  nodeLabels: ["kubernetes.io/hostname"],
  nodeAnnotations: [],
};

export async function startKubeServer(options: KubeServerOptions = {}): Promise<KubeServer> {
  const server = await KubeServer.start(options);
  onTestFinished(() => server.close());
  return server;
}

export interface Followed {
  readonly source: Source;
  readonly store: GlobalStore;
  readonly oks: string[];
  readonly failures: CoreError[];
  readonly waits: number[];
  /** `delete Endpoint shop/web/...`, all since the start. */
  readonly changes: string[];
}

/** Follows servers without waiting between attempts. */
export async function followKube(
  servers: readonly string[],
  more: Partial<KubeSourceOptions> = {},
  store: GlobalStore = new GlobalStore(),
): Promise<Followed> {
  const waits: number[] = [];
  const source = createKubeSource({
    owner: OWNER,
    proxyName: "",
    node: undefined,
    kept: KEPT,
    pageSize: 2,
    random: () => 0,
    sleep: async (ms, signal) => {
      signal.throwIfAborted();
      waits.push(ms);
      await new Promise((resolve) => setImmediate(resolve));
    },
    connect: async () => ({
      name: "test",
      servers: servers.map((url) => new URL(url)),
      ca: undefined,
      serverName: undefined,
      isInsecure: false,
      credentials: createPlainCredentials({}),
    }),
    ...more,
  });
  onTestFinished(() => source.close());
  const oks: string[] = [];
  const failures: CoreError[] = [];
  const changes: string[] = [];
  store.onCommit((commit) => {
    for (const { action, kind, key } of commit.changes) changes.push(`${action} ${kind} ${key}`);
  });
  await source.start(store, {
    ok: (message) => void oks.push(message),
    failed: (error) => void failures.push(error),
  });
  return { source, store, oks, failures, waits, changes };
}

/** What the server has, as the source should read it: of what is not for this proxy, nothing. */
export function expectedOf(server: KubeServer): readonly ModelObject[] {
  const { services, slices, nodes } = kubeReaders(KEPT, "");
  const reader = new RawReader();
  return [
    ...server.objects("Service").flatMap((raw) => services(reader, raw)),
    ...server.objects("EndpointSlice").flatMap((raw) => slices(reader, raw)),
    ...server.objects("Node").flatMap((raw) => nodes(reader, raw)),
  ];
}

export function objectsOf(store: GlobalStore): readonly ModelObject[] {
  return KINDS.flatMap((kind) => [...store.objects(kind)]);
}
