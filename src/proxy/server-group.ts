import type { BalancingMethod } from "../core/model/group.ts";
import { type Accepts, ANY_SERVER, type Balancer } from "./balance/balancer.ts";
import { createBalancer } from "./balance/create-balancer.ts";
import { Member, type MemberSpec } from "./balance/member.ts";
import { Server, serverKey } from "./balance/server.ts";
import { SlowStart } from "./balance/slow-start.ts";

export interface ServerGroupOptions {
  readonly method: BalancingMethod;
  /** From 0 to 1, 1 excluded. */
  readonly random: () => number;
  /** How long the weight of a server that came up rises; 0 or not said: it has it at once. */
  readonly slowStartMs?: number;
  /**
   * Whether new servers count as healthy. Otherwise a check has to bring them up first, and until then
   * `nextUnjudged` alone gives them.
   */
  readonly startsHealthy: boolean;
  /** A server is to be checked from now on. */
  readonly onAdded?: (server: Server) => void;
  /** A server takes no new connections any more; those that it has go on. */
  readonly onRemoved?: (server: Server) => void;
}

/**
 * Endpoints that share a way of balancing. `next` gives the server for a new connection; `opened` and
 * `closed` frame that connection, also after the server has been removed. Everything may be changed
 * at any time: no other server's counts or turns are touched.
 */
export class ServerGroup {
  readonly #options: ServerGroupOptions;
  readonly #slowStart: SlowStart;
  readonly #members = new Map<string, Member>();
  /** Removed with connections still open: one that is put again goes on with its count. */
  readonly #lingering = new Map<string, Server>();
  #balancer: Balancer;
  #available = 0;
  /** Built when it is asked for, as few listeners look servers up by address. */
  #availableByKey: ReadonlyMap<string, Server> | undefined;

  constructor(options: ServerGroupOptions) {
    this.#options = options;
    this.#slowStart = new SlowStart(options.slowStartMs ?? 0);
    this.#balancer = createBalancer(options.method, options.random);
  }

  /** How many servers take new connections. */
  get available(): number {
    return this.#available;
  }

  *servers(): Iterable<Server> {
    for (const member of this.#members.values()) yield* member.servers;
  }

  /** The server for a new connection, or undefined where none can take it. */
  next(client: string, nowMs: number, accepts: Accepts = ANY_SERVER): Server | undefined {
    if (this.#slowStart.isStepDue(nowMs)) this.#stepSlowStart(nowMs);
    return this.#balancer.next(client, nowMs, accepts);
  }

  /** One that no check has judged yet, for where no healthy one can take the connection. */
  nextUnjudged(accepts: Accepts = ANY_SERVER): Server | undefined {
    const servers = [...this.servers()].filter(
      (server) => this.#isHopeful(server) && accepts(server),
    );
    return servers[Math.floor(this.#options.random() * servers.length)];
  }

  /** The server at an address, where it takes new connections or nothing is known of it yet. */
  find(address: string, port: number): Server | undefined {
    this.#availableByKey ??= this.#indexAvailable();
    return this.#availableByKey.get(serverKey(address, port));
  }

  /** Adds a member, or changes the weight or the addresses of the one with its id. */
  put(spec: MemberSpec, nowMs: number): void {
    let member = this.#members.get(spec.id);
    if (member === undefined) {
      member = new Member(spec.id);
      this.#members.set(spec.id, member);
    }
    const added = member.want(spec, (address, port) => this.#enter(spec.id, address, port));
    for (const server of added) if (server.healthy) this.#slowStart.cameUp(server, nowMs);
    this.#settle(member, nowMs);
    this.#availableByKey = undefined;
    for (const server of added) this.#options.onAdded?.(server);
  }

  /** Removing what is not there does nothing. */
  remove(id: string): void {
    const member = this.#members.get(id);
    if (member === undefined) return;
    this.#members.delete(id);
    for (const server of member.servers) this.#leave(server);
  }

  /** To be called on an edge of the server's health; a server that has left is of no concern. */
  setHealthy(server: Server, healthy: boolean, nowMs: number): void {
    const member = this.#members.get(server.memberId);
    if (member === undefined || !this.#holds(server)) return;
    if (!server.isJudged) this.#availableByKey = undefined;
    server.isJudged = true;
    if (server.healthy === healthy) return;
    server.healthy = healthy;
    if (healthy) this.#slowStart.cameUp(server, nowMs);
    else this.#slowStart.wentDown(server);
    this.#settle(member, nowMs);
  }

  setMethod(method: BalancingMethod): void {
    this.#balancer = createBalancer(method, this.#options.random);
    for (const server of this.servers()) {
      if (server.weight > 0) this.#balancer.weightChanged(server);
    }
  }

  setSlowStartMs(durationMs: number): void {
    this.#slowStart.setDurationMs(durationMs);
  }

  /** A connection to the server has begun. */
  opened(server: Server): void {
    server.connections += 1;
    this.#balancer.loadChanged(server);
  }

  /** How many connections others have open to the server: those count as its load too. */
  setElsewhere(server: Server, connections: number): void {
    if (server.elsewhere === connections) return;
    server.elsewhere = connections;
    this.#balancer.loadChanged(server);
  }

  closed(server: Server): void {
    server.connections -= 1;
    this.#balancer.loadChanged(server);
    if (server.connections === 0) this.#lingering.delete(lingeringKey(server));
  }

  #isHopeful(server: Server): boolean {
    return !server.isJudged && (this.#members.get(server.memberId)?.weight ?? 0) > 0;
  }

  #enter(memberId: string, address: string, port: number): Server {
    const { startsHealthy } = this.#options;
    const fresh = new Server(memberId, address, port, startsHealthy);
    const key = lingeringKey(fresh);
    const back = this.#lingering.get(key);
    if (back === undefined) return fresh;
    this.#lingering.delete(key);
    back.healthy = startsHealthy;
    back.isJudged = startsHealthy;
    return back;
  }

  #leave(server: Server): void {
    this.#slowStart.wentDown(server);
    this.#setWeight(server, 0);
    if (server.connections > 0) this.#lingering.set(lingeringKey(server), server);
    this.#options.onRemoved?.(server);
  }

  #settle(member: Member, nowMs: number): void {
    for (const retired of member.retire()) this.#leave(retired);
    const share = member.shareOfEach();
    for (const server of member.servers) {
      const part = server.healthy ? this.#slowStart.shareOf(server, nowMs) : 0;
      this.#setWeight(server, share * part);
    }
  }

  #setWeight(server: Server, weight: number): void {
    if (server.weight === weight) return;
    const change = Number(weight > 0) - Number(server.weight > 0);
    if (change !== 0) this.#availableByKey = undefined;
    this.#available += change;
    server.weight = weight;
    this.#balancer.weightChanged(server);
  }

  #stepSlowStart(nowMs: number): void {
    const changed = new Set(this.#slowStart.step(nowMs).map((server) => server.memberId));
    for (const id of changed) {
      const member = this.#members.get(id);
      if (member !== undefined) this.#settle(member, nowMs);
    }
  }

  #indexAvailable(): ReadonlyMap<string, Server> {
    const index = new Map<string, Server>();
    for (const server of this.servers()) {
      if (server.weight > 0 || this.#isHopeful(server)) index.set(server.key, server);
    }
    return index;
  }

  #holds(server: Server): boolean {
    for (const own of this.#members.get(server.memberId)?.servers ?? []) {
      if (own === server) return true;
    }
    return false;
  }
}

function lingeringKey(server: Server): string {
  return `${server.memberId}\n${server.key}`;
}
