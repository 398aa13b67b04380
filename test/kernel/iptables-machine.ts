import { execFileSync } from "node:child_process";
import { onTestFinished } from "vitest";
import type { Backend } from "../../src/backends/backend.ts";
import { createIptablesBackend } from "../../src/backends/iptables/create-iptables-backend.ts";
import { IPTABLES } from "../../src/backends/iptables/definition.ts";
import { NO_FAST_WORLD } from "../../src/backends/no-fast-world.fixture.ts";
import type { Log } from "../../src/core/log.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import { flagLayer, resolveOptions } from "../../src/core/options/resolve-options.ts";
import { GlobalStore } from "../../src/core/store/global-store.ts";
import { NodeWatcher } from "../../src/core/view/node-watcher.ts";
import { createConntrackReconciler } from "../../src/platform/linux/conntrack/conntrack-reconciler.ts";
import { openConntrackTable } from "../../src/platform/linux/conntrack/conntrack-table.ts";
import { type Exec, type ExecOptions, systemExec } from "../../src/platform/linux/exec.ts";
import { takeKernelLock } from "../../src/platform/linux/instance-lock.ts";
import type { IptablesMode } from "../../src/platform/linux/iptables/iptables-tool.ts";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import { openNftGeneration } from "../../src/platform/linux/nft/nft-generation.ts";
import { NFT_TABLES } from "../../src/platform/linux/nft/nft-tables.ts";

export const NODE = "node-a";

/** A backend that runs on real rules, and what it did. */
export interface RunningBackend {
  readonly backend: Backend;
  /** Makes the state so, and waits until the kernel has it. */
  apply(objects: readonly ModelObject[]): Promise<void>;
  /** What `iptables-restore` and `ip6tables-restore` were given since the last call. */
  takeScripts(): readonly string[];
  readonly warnings: string[];
  /** Lets the sync period pass, and waits until what it brings is done. */
  passSyncPeriod(): Promise<void>;
  stop(): Promise<void>;
}

/** A network namespace in which iptables backends run in this process, on the real tools. */
export class IptablesMachine {
  readonly #namespace = NetworkNamespace.create();
  readonly mode: IptablesMode;

  constructor(mode: IptablesMode) {
    this.mode = mode;
    onTestFinished(() => this.#namespace.close());
    this.run("ip", ["link", "set", "lo", "up"]);
  }

  run(program: string, args: readonly string[], input = ""): string {
    return this.#namespace.run(() =>
      execFileSync(program, args, { input, encoding: "utf8", stdio: "pipe" }),
    );
  }

  iptables(...args: readonly string[]): void {
    this.run(`iptables-${this.mode}`, args);
  }

  /** All rules of both families, without what changes by itself. */
  rules(): string {
    const texts = ["iptables", "ip6tables"].map((name) =>
      this.run(`${name}-${this.mode}-save`, []),
    );
    return texts.join("").replace(/^#.*\n|\[\d+:\d+\]/gm, "");
  }

  async start(
    flags: Readonly<Record<string, string | number | boolean>> = {},
    kubeProxy?: string,
  ): Promise<RunningBackend> {
    const { values, problems } = resolveOptions(IPTABLES.options, [
      flagLayer({ iptablesMode: this.mode, iptablesMinSyncPeriod: "0s", ...flags }),
    ]);
    if (values === undefined) throw new Error(JSON.stringify(problems));
    const scripts: string[] = [];
    const warnings: string[] = [];
    const log: Log = {
      debug: () => undefined,
      info: () => undefined,
      warn: (_, message) => warnings.push(message),
      error: (_, message) => warnings.push(message),
    };
    const exec: Exec = {
      run: (program, args, options) => {
        const isTried = args.includes("--test") || args.includes("--version");
        const isWritten = program.endsWith("-restore") && !isTried;
        const given = isWritten ? withCopy(options ?? {}, scripts) : options;
        return this.#namespace.run(() => systemExec.run(program, args, given));
      },
    };
    const inside = <T>(work: () => T): T => this.#namespace.run(work);
    let passPeriod = async (): Promise<void> => undefined;
    const backend = await createIptablesBackend(
      values,
      { nodeName: NODE, log, stdout: process.stdout },
      {
        exec,
        clock: {
          nowMs: () => performance.now(),
          sleep: async () => undefined,
          every: (_, pass) => {
            passPeriod = pass;
            return () => undefined;
          },
        },
        findKubeProxy: async () => kubeProxy,
        isIpvsRunning: () => false,
        takeLock: () => inside(() => takeKernelLock("iptables")),
        sysctl: { read: async () => "0", ensure: async () => false },
        openConntrack: (options) =>
          createConntrackReconciler({ table: inside(openConntrackTable), ...options }),
        openGeneration: () => inside(openNftGeneration),
        nftTables: {
          list: () => inside(NFT_TABLES.list),
          wake: (tables) => inside(() => NFT_TABLES.wake(tables)),
        },
        openDirect: async () => ({ kind: "obstacle", what: "rules are tested", remedy: "none" }),
        fast: NO_FAST_WORLD,
      },
    );
    onTestFinished(() => backend.close());
    await backend.sink.setup();
    const store = new GlobalStore();
    const watcher = new NodeWatcher(store, NODE, IPTABLES.sets);
    return {
      backend,
      warnings,
      takeScripts: () => scripts.splice(0),
      apply: async (objects) => {
        store.transact("test", (transaction) => transaction.replaceAll(objects));
        store.markSynced("test");
        for (const op of watcher.poll() ?? []) {
          if (op.op === "reset") backend.sink.reset();
          else await backend.sink.send(op);
        }
      },
      passSyncPeriod: () => passPeriod(),
      stop: () => backend.close(),
    };
  }
}

/** Keeps what a program reads; where that comes in pieces, it still does. */
function withCopy(options: ExecOptions, copies: string[]): ExecOptions {
  const { stdin = "" } = options;
  const at = copies.push(typeof stdin === "string" ? stdin : "") - 1;
  if (typeof stdin === "string") return options;
  const pieces = function* (): Generator<string> {
    for (const piece of stdin) {
      copies[at] += piece;
      yield piece;
    }
  };
  return { ...options, stdin: pieces() };
}
