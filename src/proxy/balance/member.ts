import { type Server, serverKey } from "./server.ts";

/** What a group was told to send to: one endpoint, under one or more addresses. */
export interface MemberSpec {
  readonly id: string;
  /** What its name resolves to now. Empty: not known (any more), what was there is kept. */
  readonly addresses: readonly string[];
  readonly port: number;
  /** Its share within the group, all addresses together; 0 drains. */
  readonly weight: number;
}

/**
 * The addresses of one endpoint. One that is no longer wanted (its name resolves to something else) is
 * kept as long as it is up and none of the wanted ones is.
 */
export class Member {
  readonly id: string;
  weight = 0;
  readonly #servers = new Map<string, Server>();
  #wanted: ReadonlySet<string> = new Set();

  constructor(id: string) {
    this.id = id;
  }

  get servers(): Iterable<Server> {
    return this.#servers.values();
  }

  /** Takes over what is wanted from now on. Returns the servers that are new. */
  want(spec: MemberSpec, create: (address: string, port: number) => Server): readonly Server[] {
    this.weight = spec.weight;
    if (spec.addresses.length === 0) return [];
    const added: Server[] = [];
    const wanted = new Set<string>();
    for (const address of spec.addresses) {
      const key = serverKey(address, spec.port);
      wanted.add(key);
      if (this.#servers.has(key)) continue;
      const server = create(address, spec.port);
      this.#servers.set(key, server);
      added.push(server);
    }
    this.#wanted = wanted;
    return added;
  }

  /** Takes out the servers that are of no more use, and returns them. */
  retire(): readonly Server[] {
    const isReplaced = this.#someWantedIsUp();
    const retired: Server[] = [];
    for (const [key, server] of this.#servers) {
      if (this.#wanted.has(key) || (server.healthy && !isReplaced)) continue;
      this.#servers.delete(key);
      retired.push(server);
    }
    return retired;
  }

  /** The part of the weight that each healthy server has. */
  shareOfEach(): number {
    let healthy = 0;
    for (const server of this.#servers.values()) if (server.healthy) healthy += 1;
    return healthy === 0 ? 0 : this.weight / healthy;
  }

  #someWantedIsUp(): boolean {
    for (const key of this.#wanted) if (this.#servers.get(key)?.healthy) return true;
    return false;
  }
}
