import { CoreError, messageOf } from "../../core/errors.ts";
import { familyOf } from "../../core/model/address.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import type { Group } from "../../core/model/group.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { NodeProvider } from "../../net/node/node-provider.ts";
import { ipAddress, unixAddress } from "../../platform/socket-address.ts";
import type { Server } from "../../proxy/balance/server.ts";
import { NameBook, type NameBookOptions } from "../../proxy/engine/name-book.ts";
import { type CheckedGroup, HealthChecker } from "../../proxy/health/health-checker.ts";
import type { HealthEdge } from "../../proxy/health/health-state.ts";
import type { ServerId } from "../../proxy/loop/engine-messages.ts";
import { ServerGroup } from "../../proxy/server-group.ts";

/** A server for one connection or request, until `done` is called. */
export interface TakenServer {
  /** An IP address; or the path of a unix socket, with port 0. */
  readonly host: string;
  readonly port: number;
  /** That it is over, and why it could not be reached where it could not; once. */
  done(failure?: unknown): void;
}

export interface ServerReport {
  /** As it was described. */
  readonly name: string;
  readonly host: string;
  readonly port: number;
  readonly isHealthy: boolean;
  /** Why it is not; empty while it is. */
  readonly downReason: string;
  /** What was taken and is not done yet. */
  readonly connections: number;
}

export type OnServerHealth = (name: string, health: HealthEdge, reason: string) => void;

type NameLookup = Pick<NameBookOptions, "lookup" | "sleep" | "log">;

/** Chooses among servers for a client of this process, and checks how they are. */
export class BalancedServers {
  readonly #net: NetEventLoop;
  readonly #checker: HealthChecker;
  readonly #group: ServerGroup;
  readonly #names: NameBook;
  readonly #listeners = new Set<OnServerHealth>();
  readonly #reasons = new Map<string, string>();
  readonly #checked: CheckedGroup;
  #endpoints = new Map<string, Endpoint>();

  constructor({ name, method, slowStartMs, healthCheck }: Group, lookup: NameLookup) {
    const { log } = lookup;
    this.#net = new NetEventLoop({
      provider: new NodeProvider(),
      onError: (error) => log.error({ err: error }, "a health check failed to run"),
    });
    this.#names = new NameBook({ ...lookup, onChanged: () => this.#place() });
    this.#checker = new HealthChecker(this.#net, (id, edge, reason) =>
      this.#edge(id, edge, reason),
    );
    this.#checked = {
      healthCheck,
      idOf: (server) => idOf(name, server),
      addressOf: ({ address, port }) =>
        address.startsWith("/") ? unixAddress(address) : ipAddress(address, port),
      checked: () => undefined,
    };
    this.#group = new ServerGroup({
      method,
      slowStartMs,
      random: Math.random,
      startsHealthy: healthCheck.protocol === "none",
      onAdded: (server) => this.#checker.added(this.#checked, server),
      onRemoved: (server) => {
        this.#reasons.delete(server.key);
        this.#checker.removed(this.#checked, server);
      },
    });
    this.#net.loop.start();
  }

  /** From now on these; connections that are open are nobody's concern. Settles when names are looked up. */
  async replace(endpoints: readonly Endpoint[]): Promise<void> {
    const wanted = new Map(endpoints.map((endpoint) => [endpoint.name, endpoint]));
    for (const name of this.#endpoints.keys()) if (!wanted.has(name)) this.#group.remove(name);
    this.#endpoints = wanted;
    await this.#names.follow(endpoints.map(({ hostName }) => hostName).filter(Boolean));
    this.#place();
  }

  /**
   * The server whose turn it is; one that no check has judged yet where no other can be had.
   * @param client whom the method `source-hash` keeps with one server
   * @throws CoreError ERR_NO_SERVER
   */
  take(client = "", isWanted: (server: Server) => boolean = () => true): TakenServer {
    const server =
      this.#group.next(client, this.#nowMs(), isWanted) ?? this.#group.nextUnjudged(isWanted);
    if (server === undefined) throw this.#noServer();
    return this.#taken(server);
  }

  /** Settles when checks have said of every server how it is, or after that time. */
  async judged(withinMs: number): Promise<void> {
    const isOver = (): boolean => [...this.#group.servers()].every(({ isJudged }) => isJudged);
    await new Promise<void>((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        stop();
        resolve();
      };
      const timer = setTimeout(finish, withinMs);
      const stop = this.onHealth(() => {
        if (isOver()) finish();
      });
      if (isOver()) finish();
    });
  }

  list(): readonly ServerReport[] {
    return [...this.#group.servers()].map((server) => ({
      name: server.memberId,
      host: server.address,
      port: server.port,
      isHealthy: server.healthy,
      downReason: server.healthy ? "" : (this.#reasons.get(server.key) ?? "not checked yet"),
      connections: server.connections,
    }));
  }

  /** Calls `listener` whenever a server has gone up or down, until the result is called. */
  onHealth(listener: OnServerHealth): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Ends the checks; nothing keeps the process from ending any more. */
  close(): void {
    this.#checker.close();
    this.#names.close();
    this.#net.loop.close();
  }

  #taken(server: Server): TakenServer {
    const startMs = this.#nowMs();
    let isDone = false;
    this.#group.opened(server);
    return {
      host: server.address,
      port: server.port,
      done: (failure) => {
        if (isDone) return;
        isDone = true;
        this.#group.closed(server);
        const id = this.#checked.idOf(server);
        if (failure !== undefined) this.#checker.experienced(id, messageOf(failure));
        else {
          server.latency.observe(this.#nowMs() - startMs, this.#nowMs());
          this.#checker.experienced(id, undefined);
        }
      },
    };
  }

  #place(): void {
    for (const { name, hostName, addresses, families, ports, weight } of this.#endpoints.values()) {
      const known = hostName === "" ? addresses : this.#names.addressesOf(hostName);
      const wanted = known.filter(
        (ip) => ip.startsWith("/") || families.length === 0 || families.includes(familyOf(ip)),
      );
      const port = ports[0]?.port ?? 0;
      this.#group.put({ id: name, addresses: wanted, port, weight }, this.#nowMs());
    }
  }

  #edge(id: ServerId, edge: HealthEdge, reason: string): void {
    for (const server of this.#group.servers()) {
      if (server.memberId !== id.member || server.address !== id.address) continue;
      this.#reasons.set(server.key, reason);
      this.#group.setHealthy(server, edge === "up", this.#nowMs());
    }
    for (const listener of this.#listeners) listener(id.member, edge, reason);
  }

  #noServer(): CoreError {
    const listed = this.list();
    const placed = new Set(listed.map(({ name }) => name));
    const states = [
      ...listed.map(
        ({ name, isHealthy, downReason }) => `${name} (${isHealthy ? "weight 0" : downReason})`,
      ),
      ...[...this.#endpoints.keys()]
        .filter((name) => !placed.has(name))
        .map((name) => `${name} (its name leads to no address)`),
    ];
    const known = states.length === 0 ? "there are none" : states.join(", ");
    return new CoreError("ERR_NO_SERVER", `no server can take a connection: ${known}`);
  }

  #nowMs(): number {
    return performance.now();
  }
}

function idOf(group: string, { memberId, address, port }: Server): ServerId {
  return { group, member: memberId, address, port };
}
