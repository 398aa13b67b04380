import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import type { ModelObject } from "../../src/core/model/object.ts";
import type { NodeName } from "../../src/core/route/scenarios/topology.ts";
import { buildWithThreads } from "../../src/net/threads/build-program.fixture.ts";
import type { BackendReply, BackendRequest, RawOptions } from "./backend-messages.ts";
import type { ChurnPlan, ChurnReport } from "./endpoint-churn.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const HOST = fileURLToPath(new URL("./backend-host.ts", import.meta.url));
const KEPT_CHARACTERS = 4000;

/** A backend in a process of its own, in the network namespace of the node under test or of another one. */
export class BackendProcess {
  readonly #child: ChildProcess;
  #stderr = "";

  readonly #node: NodeName;

  constructor(network: NamespaceNetwork, node: NodeName = "node-a") {
    this.#node = node;
    const host = buildHost();
    const child = network.inside(node, () =>
      spawn(process.execPath, [host], {
        cwd: ROOT,
        stdio: ["ignore", "ignore", "pipe", "ipc"],
        serialization: "advanced",
      }),
    );
    child.stderr?.setEncoding("utf8").on("data", (text: string) => {
      this.#stderr = (this.#stderr + text).slice(-KEPT_CHARACTERS);
    });
    this.#child = child;
  }

  get pid(): number {
    if (this.#child.pid === undefined) throw new Error("the process did not start");
    return this.#child.pid;
  }

  async start(backend: string, options: RawOptions): Promise<void> {
    await this.#ask({ kind: "start", backend, options, node: this.#node });
  }

  async apply(objects: readonly ModelObject[]): Promise<void> {
    await this.#ask({ kind: "apply", objects });
  }

  /** Lets endpoints of what was applied come and go. */
  async churn(plan: ChurnPlan): Promise<ChurnReport> {
    const { churn } = await this.#ask({ kind: "churn", plan });
    if (churn === undefined) throw new Error("the backend's process tells nothing of the churn");
    return churn;
  }

  async close(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }

  /** Ends it without a word: what it programmed stays. */
  async kill(): Promise<void> {
    const ended = once(this.#child, "exit");
    this.#child.kill("SIGKILL");
    await ended;
  }

  /** One at a time: the next waits for the answer. */
  async #ask(request: BackendRequest): Promise<BackendReply> {
    const reply = await new Promise<BackendReply>((resolve, reject) => {
      const onMessage = (message: BackendReply) => {
        this.#child.off("exit", onExit);
        resolve(message);
      };
      const onExit = () => {
        this.#child.off("message", onMessage);
        reject(new Error(`the backend's process ended: ${this.#stderr}`));
      };
      this.#child.once("message", onMessage);
      this.#child.once("exit", onExit);
      this.#child.send(request);
    });
    const { problem } = reply;
    if (problem !== undefined) throw new Error(`${request.kind}: ${problem}\n${this.#stderr}`);
    return reply;
  }
}

/** @returns its file */
function buildHost(): string {
  // A test that was built ahead, for a kernel that is slow to start programs, has the host beside it.
  if (!import.meta.url.endsWith(".ts")) return HOST.replace(/\.ts$/, ".js");
  return buildWithThreads(HOST);
}
