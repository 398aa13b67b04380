import type { Protocol } from "../../core/model/common.ts";
import type { RedirectedAddress } from "../engine-config.ts";
import type { UpstreamRuntime } from "../loop/upstream-runtime.ts";
import { NetworkSet } from "../network-set.ts";
import { SecurityGroup } from "../security-group.ts";

/** The upstream of a key, where there is one now. */
export type UpstreamOf = (key: string) => UpstreamRuntime | undefined;

interface Exception {
  readonly networks: NetworkSet;
  readonly upstream: string;
}

/** An address that is called: to which upstream its clients are led, and who they may be. */
export class CalledAddress {
  readonly #upstreamOf: UpstreamOf;
  readonly #upstream: string;
  readonly #exceptions: readonly Exception[];
  readonly #access: SecurityGroup | undefined;
  readonly #port: number;

  constructor(called: RedirectedAddress, upstreamOf: UpstreamOf) {
    const { address, upstream, exceptions, access } = called;
    this.#upstreamOf = upstreamOf;
    this.#upstream = upstream;
    this.#exceptions = exceptions.map(({ networks, upstream: other }) => ({
      networks: new NetworkSet(networks),
      upstream: other,
    }));
    this.#access = access && new SecurityGroup(access);
    this.#port = address.family === "unix" ? 0 : address.port;
  }

  /** The one for clients that are no exception; undefined where there is none of its key now. */
  get upstream(): UpstreamRuntime | undefined {
    return this.#upstreamOf(this.#upstream);
  }

  /** Whether what a client asks for can make a difference. */
  get readsHints(): boolean {
    return this.#exceptions.length > 0 || this.upstream?.readsHints === true;
  }

  /** @param client gives its address; its text costs, so it is asked for only where it matters */
  upstreamFor(client: () => string): UpstreamRuntime | undefined {
    if (this.#exceptions.length === 0) return this.upstream;
    const ip = client();
    const exception = this.#exceptions.find(({ networks }) => networks.has(ip));
    return exception === undefined ? this.upstream : this.#upstreamOf(exception.upstream);
  }

  /** @param client as for `upstreamFor` */
  allows(client: () => string, protocol: Protocol): boolean {
    return this.#access?.allows(client(), protocol, this.#port) ?? true;
  }
}
