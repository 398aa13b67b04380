import { forwardedClient } from "../../wire/http1/forwarded-client.ts";
import { NetworkSet } from "../network-set.ts";

/**
 * Whose word is taken for where a request comes from. What a trusted hop says in `X-Forwarded-*` is
 * kept and added to; what anybody else says is replaced. `Forwarded` (RFC 7239) is not read: it passes
 * where the hop is trusted, and is taken away where not.
 */
export class ForwardedTrust {
  readonly #hops: NetworkSet | undefined;

  constructor(networks: readonly string[]) {
    this.#hops = networks.length === 0 ? undefined : new NetworkSet(networks);
  }

  trusts(ip: string): boolean {
    return this.#hops?.has(ip) ?? false;
  }

  /**
   * The address of the client: that of the peer, or what trusted hops say.
   * @param forwardedFor the values of the `X-Forwarded-For` fields, asked for where they count.
   */
  clientOf(peer: string, forwardedFor: () => readonly string[]): string {
    if (!this.trusts(peer)) return peer;
    return forwardedClient(forwardedFor(), peer, (ip) => this.trusts(ip));
  }
}
