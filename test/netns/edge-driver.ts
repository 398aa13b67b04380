import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ContractDriver, Observation } from "../../src/backends/contract-judge.ts";
import { formatHostPort } from "../../src/core/model/address.ts";
import type { ModelObject } from "../../src/core/model/object.ts";
import type { Scenario } from "../../src/core/route/scenarios/scenario.ts";
import { type NodeName, TOPOLOGY } from "../../src/core/route/scenarios/topology.ts";
import { generateTunnelKey, publicTunnelKey } from "../../src/edge/tunnel/tunnel-keys.ts";
import { BackendProcess } from "./backend-process.ts";
import { NamespaceDriver } from "./namespace-driver.ts";

const NODES: readonly NodeName[] = ["node-a", "node-b", "node-c"];
const TUNNEL_PORT = 50_103;

/** The contract of the overlay: on each of the three nodes a tunnel, all told the same state. */
export class EdgeDriver implements ContractDriver {
  readonly #inner: NamespaceDriver;
  readonly #folder = mkdtempSync(join(tmpdir(), "portolan-contract-"));
  readonly #keys: ReadonlyMap<string, string>;
  readonly #others: readonly BackendProcess[];

  private constructor() {
    this.#keys = new Map(NODES.map((node) => [node, this.#makeKey(node)]));
    this.#inner = new NamespaceDriver(
      { backend: "edge", options: { tunnelFolder: join(this.#folder, "node-a") } },
      new Set(["tunnelFolder"]),
    );
    const { network } = this.#inner.stage;
    this.#others = NODES.slice(1).map((node) => new BackendProcess(network, node));
  }

  static async open(): Promise<EdgeDriver> {
    const driver = new EdgeDriver();
    await Promise.all(
      driver.#others.map((other, index) =>
        other.start("edge", { tunnelFolder: join(driver.#folder, NODES[index + 1] ?? "") }),
      ),
    );
    return driver;
  }

  async prepare(scenario: Scenario): Promise<void> {
    const objects = scenario.objects.map((object) => this.#withTunnel(object));
    for (const other of this.#others) await other.apply(objects);
    await this.#inner.prepare({ ...scenario, objects });
  }

  send(scenario: Scenario): Promise<Observation> {
    return this.#inner.send(scenario);
  }

  sendMany(scenario: Scenario, count: number): Promise<readonly Observation[]> {
    return this.#inner.sendMany(scenario, count);
  }

  async close(): Promise<void> {
    await Promise.all(this.#others.map((other) => other.close()));
    await this.#inner.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #makeKey(node: string): string {
    const folder = join(this.#folder, node);
    const key = generateTunnelKey();
    mkdirSync(folder);
    writeFileSync(join(folder, "tunnel.key"), key);
    return publicTunnelKey(key);
  }

  #withTunnel(object: ModelObject): ModelObject {
    const name = NODES.find((node) => object.kind === "Node" && object.name === node);
    if (object.kind !== "Node" || name === undefined) return object;
    const address = formatHostPort(TOPOLOGY.nodes[name].addresses.v4, TUNNEL_PORT);
    return { ...object, tunnel: { address, publicKey: this.#keys.get(name) ?? "" } };
  }
}
