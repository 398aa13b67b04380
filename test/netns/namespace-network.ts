import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { NetworkNamespace } from "../../src/platform/linux/network-namespace.ts";
import {
  NODE_SETTINGS,
  PARTIES,
  type PartyName,
  planNeighbour,
  planNodeUnderTest,
  SETTINGS,
} from "./plan-network.ts";

/** The network of `TOPOLOGY` out of network namespaces, which end with this process. Needs root. */
export class NamespaceNetwork {
  readonly #namespaces: ReadonlyMap<PartyName, NetworkNamespace>;

  private constructor(namespaces: ReadonlyMap<PartyName, NetworkNamespace>) {
    this.#namespaces = namespaces;
  }

  static open(): NamespaceNetwork {
    const network = new NamespaceNetwork(
      new Map(PARTIES.map((party) => [party, NetworkNamespace.create()])),
    );
    try {
      network.#build();
    } catch (error) {
      network.close();
      throw error;
    }
    return network;
  }

  /**
   * Does something inside, such as opening a socket or starting a program. Nothing that waits: only
   * what is done before `work` returns is done there.
   */
  inside<T>(party: PartyName, work: () => T): T {
    return this.#namespace(party).run(work);
  }

  /** Runs a program to its end and returns what it printed. Throws where it fails. */
  exec(party: PartyName, program: string, args: readonly string[], stdin = ""): string {
    return this.inside(party, () =>
      execFileSync(program, args, { input: stdin, encoding: "utf8", stdio: "pipe" }),
    );
  }

  /** Lines for `ip -batch`. */
  ip(party: PartyName, lines: readonly string[]): void {
    this.exec(party, "ip", ["-batch", "-"], lines.join("\n"));
  }

  close(): void {
    for (const namespace of this.#namespaces.values()) namespace.close();
  }

  #build(): void {
    for (const party of PARTIES) {
      const settings = party === "node-a" ? [...SETTINGS, ...NODE_SETTINGS] : SETTINGS;
      this.inside(party, () => {
        for (const [name, value] of settings) writeFileSync(join("/proc/sys/net", name), value);
      });
    }
    this.ip(
      "node-a",
      planNodeUnderTest((party) => this.#namespace(party).path),
    );
    for (const party of PARTIES) if (party !== "node-a") this.ip(party, planNeighbour(party));
  }

  #namespace(party: PartyName): NetworkNamespace {
    const namespace = this.#namespaces.get(party);
    if (namespace === undefined) throw new Error(`there is no party ${party}`);
    return namespace;
  }
}
