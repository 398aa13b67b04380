import { CoreError } from "../../../core/errors.ts";

/** Beyond come the node ports of Kubernetes. */
const MOST_UDP_PORTS = 3999;

/**
 * The local ports that redirected calls are led to: one for all of TCP, where a connection tells what
 * it was made to, and one for each port of a service that has datagrams, which do not tell. A port
 * stays with its owner as long as that is there.
 */
export class RedirectPorts {
  readonly tcp: number;
  #owners = new Map<string, number>();

  /** @param first the one for TCP; the others follow it */
  constructor(first: number) {
    this.tcp = first;
  }

  /** The port of each owner; those that are not named any more are free again. @throws CoreError */
  assignUdp(owners: readonly string[]): ReadonlyMap<string, number> {
    const kept = new Map<string, number>();
    for (const owner of owners) {
      const port = this.#owners.get(owner);
      if (port !== undefined) kept.set(owner, port);
    }
    const taken = new Set(kept.values());
    let next = this.tcp + 1;
    for (const owner of owners) {
      if (kept.has(owner)) continue;
      while (taken.has(next)) next += 1;
      if (next > this.tcp + MOST_UDP_PORTS) throw tooMany(owners.length);
      kept.set(owner, next);
      taken.add(next);
    }
    this.#owners = kept;
    return kept;
  }
}

function tooMany(count: number): CoreError {
  return new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    `--redirect: ${count} UDP ports of services need a local port each; there are ${MOST_UDP_PORTS}`,
  );
}
