import { NetworkTree } from "./network-tree.ts";

const YES = (): boolean => true;

/** Networks to be asked whether they hold an address: trusted proxies, for one. */
export class NetworkSet {
  readonly #tree = new NetworkTree<true>();

  constructor(networks: readonly string[]) {
    for (const network of networks) this.#tree.add(network, true);
  }

  has(ip: string): boolean {
    return this.#tree.find(ip, YES) ?? false;
  }
}
