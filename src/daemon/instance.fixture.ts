import { PassThrough } from "node:stream";
import type { Backend, BackendDefinition } from "../backends/backend.ts";
import { PRINT } from "../backends/print/definition.ts";
import type { Log } from "../core/log.ts";
import type { ModelObject } from "../core/model/object.ts";
import { serviceSchema } from "../core/model/service.ts";
import type { Sink } from "../core/sinks/sink.ts";
import type { GlobalStore } from "../core/store/global-store.ts";
import type { Source, SourceReporter } from "../sources/source.ts";
import { type BackendConfig, type InstanceConfig, resolveConfig } from "./config.ts";
import type { InstanceDeps } from "./instance-deps.ts";

export interface LogLine {
  readonly level: keyof Log;
  readonly fields: object;
  readonly message: string;
}

export function createLog(): { readonly log: Log; readonly lines: LogLine[] } {
  const lines: LogLine[] = [];
  const at = (level: keyof Log) => (fields: object, message: string) => {
    lines.push({ level, fields, message });
  };
  const log = { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error") };
  return { log, lines };
}

export function service(name: string, clusterIP: string): ModelObject {
  return serviceSchema.parse({
    kind: "Service",
    name,
    clusterIPs: [clusterIP],
    ports: [{ port: 80 }],
  });
}

/** A source whose objects the test gives. */
export class FakeSource implements Source {
  readonly owner: string;
  readonly #objects: readonly ModelObject[];
  #store: GlobalStore | undefined;
  report: SourceReporter | undefined;
  isClosed = false;

  constructor(owner: string, objects: readonly ModelObject[]) {
    this.owner = owner;
    this.#objects = objects;
  }

  async start(store: GlobalStore, report: SourceReporter): Promise<void> {
    this.#store = store;
    this.report = report;
    this.write(this.#objects);
    store.markSynced(this.owner);
    report.ok(`${this.#objects.length} objects`);
  }

  write(objects: readonly ModelObject[]): void {
    this.#store?.transact(this.owner, (transaction) => transaction.replaceAll(objects));
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}

/** A backend that notes what it is told, under its name. */
export function fakeBackend(
  name: string,
  calls: string[],
  more: {
    readonly sink?: Partial<Sink>;
    readonly definition?: Partial<BackendDefinition>;
    readonly status?: Backend["status"];
  } = {},
): BackendConfig {
  const note = (what: string) => async (): Promise<void> => void calls.push(`${name} ${what}`);
  const backend: Backend = {
    sink: {
      setup: () => undefined,
      waitRequest: () => ({ nodeName: "node-a", sets: [] }),
      reset: () => void calls.push(`${name} reset`),
      send: (op) => {
        calls.push(`${name} ${op.op === "sync" ? op.op : `${op.op} ${op.path}`}`);
      },
      ...more.sink,
    },
    status: more.status ?? (() => ({ summary: "", notHonoured: [] })),
    drain: note("drain"),
    cleanup: note("cleanup"),
    close: note("close"),
  };
  const definition: BackendDefinition = {
    ...PRINT,
    name,
    options: {},
    create: async () => backend,
    ...more.definition,
  };
  return { name, definition, options: {} };
}

export async function configOf(
  flags: Readonly<Record<string, unknown>>,
  backends?: readonly BackendConfig[],
): Promise<InstanceConfig> {
  const config = await resolveConfig({
    flags: { from: ["file:a"], to: ["print"], node: "node-a", ...flags },
    environment: {},
    hostName: "host",
  });
  return { ...config, backends: backends ?? config.backends };
}

export function createFakeDeps(
  sources: readonly Source[],
  more: Partial<InstanceDeps> = {},
): InstanceDeps {
  const queue = [...sources];
  return {
    log: createLog().log,
    stdout: new PassThrough(),
    machine: { os: "linux", isRoot: false },
    version: "1.2.3",
    nowMs: () => 0,
    monotonicSeconds: () => 0,
    random: () => 0,
    sleep: (_ms, signal) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      }),
    createSource: async ({ owner }) => queue.shift() ?? new FakeSource(owner, []),
    startApi: async (_store, { values }) => ({
      address: values.apiListen,
      watchers: () => 7,
      close: async () => undefined,
    }),
    watchApi: async () => {
      throw new Error("no API in this test");
    },
    ...more,
  };
}
