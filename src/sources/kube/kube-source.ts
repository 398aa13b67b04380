import { KINDS, type Kind } from "../../core/model/object.ts";
import type { Raw } from "../../core/model/raw-reader.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { KubeClient } from "../../engines/kubernetes/kube-client.ts";
import type { KubeConnection } from "../../engines/kubernetes/kube-connection.ts";
import { Reflector, type ReflectorOptions } from "../../engines/kubernetes/reflector.ts";
import type { Source, SourceReporter } from "../source.ts";
import { kubeResources, type ResourceOptions } from "./kube-resources.ts";
import { KubeSourceMetrics } from "./kube-source-metrics.ts";
import { ObjectMirror } from "./object-mirror.ts";
import { type KeptMetadata, kubeReaders } from "./read-kube-objects.ts";
import { StoreWriter } from "./store-writer.ts";
import { TriggerTimes } from "./trigger-times.ts";

export interface KubeSourceOptions extends Omit<ReflectorOptions, "resource">, ResourceOptions {
  readonly owner: string;
  readonly kept: KeptMetadata;
  /** Finds out where the cluster is. @throws CoreError ERR_CONFIG_INVALID */
  readonly connect: () => Promise<KubeConnection>;
}

/** What each resource becomes, and what people call it. */
const RESOURCES = [
  { resource: "services", what: "Service", kind: "Service" },
  { resource: "slices", what: "EndpointSlice", kind: "Endpoint" },
  { resource: "nodes", what: "Node", kind: "Node" },
] as const;

/** So many of the objects that are left out are named. */
const MAX_NAMED = 3;

/** A source that follows the services, endpoint slices and nodes of a Kubernetes cluster. */
export function createKubeSource(options: KubeSourceOptions): Source {
  const { owner } = options;
  const ended = new AbortController();
  let following: Promise<unknown> = Promise.resolve();
  let client: KubeClient | undefined;
  const metrics = new KubeSourceMetrics();
  return {
    owner,
    details: () => metrics.details(),
    metrics: () => metrics.families(),
    start: async (store, report) => {
      store.register(owner);
      const connection = await options.connect();
      if (ended.signal.aborted) return;
      client = new KubeClient(connection, {
        onRequest: (request, seconds, isOk) => metrics.requests.took(request, seconds, isOk),
      });
      const { signal } = ended;
      following = follow(options, { client, connection, store, report, signal, metrics });
    },
    close: async () => {
      ended.abort();
      await following;
      client?.close();
    },
  };
}

interface Following {
  readonly client: KubeClient;
  readonly connection: KubeConnection;
  readonly store: GlobalStore;
  readonly report: SourceReporter;
  readonly signal: AbortSignal;
  readonly metrics: KubeSourceMetrics;
}

async function follow(
  options: KubeSourceOptions,
  { client, connection, store, report, signal, metrics }: Following,
): Promise<void> {
  const { owner, kept, proxyName, node, ...reflecting } = options;
  const writer = new StoreWriter(store, owner);
  const readers = kubeReaders(kept, proxyName);
  const resources = kubeResources({ proxyName, node });
  const well = new Set<string>();
  const mirrors: ObjectMirror[] = [];
  // It says nothing of other kinds, from the start.
  store.markSynced(owner, othersThan(RESOURCES.map(({ kind }) => kind)));
  let told = "";
  const tell = (): void => {
    if (well.size < RESOURCES.length) return;
    const message = `follows ${client.server} (${connection.name})${leftOut(writer, mirrors)}`;
    if (message === told) return;
    told = message;
    report.ok(message);
  };
  const triggers = new TriggerTimes();
  const onSlice = (id: string, slice: Raw | undefined): void =>
    slice === undefined ? triggers.delete(id) : triggers.set(id, slice);
  await Promise.all(
    RESOURCES.map(({ resource, what, kind }) => {
      const mirror = new ObjectMirror({
        what,
        kind,
        read: readers[resource],
        writer,
        onListed: () => store.markSynced(owner, [kind]),
        onPause: () => {
          for (const sinceMs of triggers.take()) report.triggered?.(sinceMs, store.revision);
          tell();
        },
        ...(resource === "slices" && { onEvent: onSlice }),
      });
      mirrors.push(mirror);
      const reflector = new Reflector(
        client,
        { ...reflecting, resource: resources[resource] },
        mirror,
        {
          counts: metrics.countsOf(resource),
          ok: () => {
            well.add(resource);
            tell();
          },
          failed: (error) => {
            well.delete(resource);
            told = "";
            report.failed(error);
          },
        },
      );
      return reflector.run(signal);
    }),
  );
}

function othersThan(kinds: readonly Kind[]): readonly Kind[] {
  return KINDS.filter((kind) => !kinds.includes(kind));
}

function leftOut(writer: StoreWriter, mirrors: readonly ObjectMirror[]): string {
  const reasons = [...mirrors.flatMap((mirror) => mirror.unreadable()), ...writer.refused()];
  if (reasons.length === 0) return "";
  const more = reasons.length > MAX_NAMED ? `; and ${reasons.length - MAX_NAMED} more` : "";
  return `; left out: ${reasons.slice(0, MAX_NAMED).join("; ")}${more}`;
}
