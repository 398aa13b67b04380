import { type Family, familyOf, parseCidr } from "../core/model/address.ts";
import { V6_BYTES, writeIp } from "../wire/ip-bytes.ts";
import { PrefixTree } from "./prefix-tree.ts";

const BITS_OF_BYTE = 8;

/** Values by network, IPv4 and IPv6, made ready to be asked for many addresses. */
export class NetworkTree<T> {
  readonly #trees: Readonly<Record<Family, PrefixTree<T>>> = {
    v4: new PrefixTree(),
    v6: new PrefixTree(),
  };
  readonly #address = new Uint8Array(V6_BYTES);

  /** @param network as `parseCidr` reads it; anything else holds no address. */
  add(network: string, value: T): void {
    const cidr = parseCidr(network);
    if (cidr === undefined) return;
    writeIp(cidr.text.slice(0, cidr.text.indexOf("/")), this.#address, 0);
    this.#trees[cidr.family].add(this.#address, cidr.prefix, value);
  }

  /**
   * The value that suits of the longest network with the address; of several, the first added. What
   * is no address, as that of a client on a unix socket, is in no network.
   */
  find(ip: string, suits: (value: T) => boolean): T | undefined {
    const length = writeIp(ip, this.#address, 0);
    if (length === 0) return undefined;
    return this.#trees[familyOf(ip)].find(this.#address, length * BITS_OF_BYTE, suits);
  }
}
