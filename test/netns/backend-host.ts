/**
 * Runs a backend from the sources in the network namespace that it is started in, for tests: they send
 * it states as messages. It ends, with what the backend programmed, when the test's process does.
 */

import type { Backend } from "../../src/backends/backend.ts";
import { loadBackend } from "../../src/backends/registry.ts";
import type { Log } from "../../src/core/log.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { flagLayer, resolveOptions } from "../../src/core/options/resolve-options.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import type { BackendReply, BackendRequest, RawOptions } from "./backend-messages.ts";
import { type ChurnPlan, type ChurnReport, churnEndpoints } from "./endpoint-churn.ts";

const OWNER = "contract";

const toStderr = (fields: object, message: string): void => {
  process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
};
const LOG: Log = { debug: () => undefined, info: () => undefined, warn: toStderr, error: toStderr };

/** A backend fed by a store of its own. */
class Feed {
  readonly #backend: Backend;
  readonly #store = new GlobalStore();
  /** Undefined where the backend is to be sent all: at first, and after a failure. */
  #watcher: NodeWatcher | undefined;

  readonly #node: string;

  private constructor(backend: Backend, node: string) {
    this.#backend = backend;
    this.#node = node;
  }

  static async open(name: string, options: RawOptions, nodeName: string): Promise<Feed> {
    const definition = await loadBackend(name);
    if (definition === undefined) throw new Error(`there is no backend ${name}`);
    // It is the rules that are tested, unless a test says otherwise.
    const byRules = "directConnect" in definition.options ? { directConnect: "off" } : {};
    const { values, problems } = resolveOptions(definition.options, [
      flagLayer({ ...byRules, ...options }),
    ]);
    if (values === undefined) throw new Error(JSON.stringify(problems));
    const context = { nodeName, log: LOG, stdout: process.stderr };
    const feed = new Feed(await definition.create(values, context), nodeName);
    await feed.#backend.sink.setup();
    return feed;
  }

  async apply(objects: readonly ModelObject[]): Promise<void> {
    this.#store.transact(OWNER, (transaction) => transaction.replaceAll(objects));
    this.#store.markSynced(OWNER);
    await this.#sync();
  }

  churn(plan: ChurnPlan): Promise<ChurnReport> {
    return churnEndpoints(plan, this.#store, OWNER, () => this.#sync());
  }

  async #sync(): Promise<void> {
    const { sink } = this.#backend;
    const { sets } = await sink.waitRequest();
    this.#watcher ??= new NodeWatcher(this.#store, this.#node, sets);
    try {
      for (const op of this.#watcher.poll() ?? []) {
        if (op.op === "reset") sink.reset();
        else await sink.send(op);
      }
    } catch (error) {
      this.#watcher.close();
      this.#watcher = undefined;
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#watcher?.close();
    await this.#backend.cleanup();
    await this.#backend.close();
  }
}

let feed: Feed | undefined;

async function answer(request: BackendRequest): Promise<ChurnReport | undefined> {
  switch (request.kind) {
    case "start":
      await feed?.close();
      feed = undefined;
      feed = await Feed.open(request.backend, request.options, request.node);
      return undefined;
    case "apply":
      await started().apply(request.objects);
      return undefined;
    case "churn":
      return started().churn(request.plan);
    case "stop":
      await feed?.close();
      feed = undefined;
      return undefined;
  }
}

function started(): Feed {
  if (feed === undefined) throw new Error("no backend was started");
  return feed;
}

process.on("message", (request: BackendRequest) => {
  answer(request).then(
    (churn) => reply({ problem: undefined, churn }),
    (error: unknown) =>
      reply({ problem: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
  );
});

function reply(message: BackendReply): void {
  process.send?.(message);
}

process.on("disconnect", () => {
  void answer({ kind: "stop" }).finally(() => process.exit());
});
