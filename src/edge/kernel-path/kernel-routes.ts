import { LOCAL, type Target } from "../flows/packet-router.ts";
import type { PrefixMap } from "../flows/prefix-map.ts";
import { numberBytes, routeKey } from "./entries.ts";
import type { KernelMap } from "./kernel-maps.ts";
import { THIS_NODE } from "./layout.ts";

interface Entry {
  readonly isV6: boolean;
  readonly key: Uint8Array;
  readonly peer: number;
}

/** Whose the addresses of workloads are, in the maps of the kernel path. */
export class KernelRoutes<P> {
  readonly #maps: { readonly v4: KernelMap; readonly v6: KernelMap };
  readonly #numberOf: (peer: P) => number;
  #written: ReadonlyMap<string, Entry> = new Map();
  #revision = -1;

  constructor(
    maps: { readonly v4: KernelMap; readonly v6: KernelMap },
    numberOf: (peer: P) => number,
  ) {
    this.#maps = maps;
    this.#numberOf = numberOf;
  }

  /** Makes them what `routes` says, the same object each time. One that is another one's now is replaced in one step. */
  follow(routes: PrefixMap<Target<P>>): void {
    // Services change much more often.
    if (routes.revision === this.#revision) return;
    this.#revision = routes.revision;
    const wanted = new Map<string, Entry>();
    for (const entry of routes.entries()) {
      const key = routeKey(entry);
      const peer = entry.value === LOCAL ? THIS_NODE : this.#numberOf(entry.value);
      wanted.set(Buffer.from(key).toString("latin1"), { isV6: entry.isV6, key, peer });
    }
    for (const [text, { isV6, key }] of this.#written) {
      if (!wanted.has(text)) this.#map(isV6).delete(key);
    }
    for (const [text, { isV6, key, peer }] of wanted) {
      if (this.#written.get(text)?.peer !== peer) this.#map(isV6).set(key, numberBytes(peer));
    }
    this.#written = wanted;
  }

  #map(isV6: boolean): KernelMap {
    return isV6 ? this.#maps.v6 : this.#maps.v4;
  }
}
