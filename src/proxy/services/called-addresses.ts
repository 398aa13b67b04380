import type { StreamFd } from "../../net/fd.ts";
import { formatSocketAddress } from "../../platform/socket-address.ts";
import type { ListenerConfig, RedirectedAddress } from "../engine-config.ts";
import { CalledAddress, type UpstreamOf } from "./called-address.ts";

/** The addresses at which a listener is called: its own, or those whose calls are redirected to it. */
export class CalledAddresses {
  readonly own: CalledAddress;
  readonly #upstreamOf: UpstreamOf;
  /** By their text; undefined where nothing is redirected. */
  readonly #redirected: ReadonlyMap<string, RedirectedAddress> | undefined;
  readonly #known = new Map<string, CalledAddress>();

  constructor(config: ListenerConfig, upstreamOf: UpstreamOf) {
    this.own = new CalledAddress(config, upstreamOf);
    this.#upstreamOf = upstreamOf;
    const { redirected } = config;
    this.#redirected =
      redirected.length === 0
        ? undefined
        : new Map(redirected.map((called) => [formatSocketAddress(called.address), called]));
  }

  /** The one that a client called; undefined where it is none of them. */
  of(client: StreamFd): CalledAddress | undefined {
    if (this.#redirected === undefined) return this.own;
    const address = client.originalDestination?.();
    if (address === undefined) return undefined;
    const text = formatSocketAddress(address);
    const known = this.#known.get(text);
    if (known !== undefined) return known;
    const redirected = this.#redirected.get(text);
    if (redirected === undefined) return undefined;
    const called = new CalledAddress(redirected, this.#upstreamOf);
    this.#known.set(text, called);
    return called;
  }
}
