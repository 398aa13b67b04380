import type {
  AttachPlan,
  EdgeNetwork,
  NodePlan,
  PortHolder,
  PublishedPort,
} from "./edge-network.ts";
import { keyOf, type PortMapping } from "./port-mappings.ts";
import type { FoundNamespace } from "./workload.ts";

/** A kernel in memory, which refuses what a test tells it to. */
export class FakeEdgeNetwork implements EdgeNetwork {
  readonly links: Map<string, FoundNamespace> = new Map();
  readonly namespaces: Set<string> = new Set();
  readonly listening: Map<string, string> = new Map();
  ports: readonly string[] = [];
  isBuilt = false;
  conflict: string | undefined;
  /** Names of methods that fail. */
  readonly failing: Set<keyof EdgeNetwork> = new Set();

  async ensureNode(_: NodePlan): Promise<void> {
    this.#fail("ensureNode");
    this.isBuilt = true;
  }

  async findConflict(): Promise<string | undefined> {
    return this.conflict;
  }

  async attach(_: NodePlan, { hostLink, namespace }: AttachPlan): Promise<string> {
    this.#fail("attach");
    this.links.set(hostLink, namespace);
    return "eth0";
  }

  async detach(hostLink: string): Promise<void> {
    this.links.delete(hostLink);
  }

  async attached(): Promise<ReadonlySet<string>> {
    return new Set(this.links.keys());
  }

  isThere({ id }: FoundNamespace): boolean {
    return this.namespaces.has(id);
  }

  removeNamespace({ id, madeAs }: FoundNamespace): void {
    if (madeAs !== "") this.namespaces.delete(id);
  }

  async publish(_: NodePlan, ports: readonly PublishedPort[]): Promise<void> {
    this.#fail("publish");
    this.ports = ports.map((port) => `${keyOf(port)} ${port.addresses.v4}:${port.port}`);
  }

  findHolder(ports: readonly PortMapping[]): PortHolder | undefined {
    for (const port of ports) {
      const holder = this.listening.get(keyOf(port));
      if (holder !== undefined) return { port, holder };
    }
    return undefined;
  }

  async removeNode(): Promise<void> {
    this.isBuilt = false;
  }

  watch(): { close(): void } {
    return { close: () => undefined };
  }

  close(): void {}

  #fail(method: keyof EdgeNetwork): void {
    if (this.failing.has(method)) throw new Error(`${method} fails`);
  }
}
