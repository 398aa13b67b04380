import { CoreError, messageOf } from "../../core/errors.ts";
import type { AcceptHandler, ListenerRole } from "../../net/acceptor.ts";
import type { DatagramFd, StreamFd } from "../../net/fd.ts";
import type { LoopContext, LoopProgram } from "../../net/threads/loop-program.ts";
import { errnoName } from "../../platform/errno.ts";
import { HealthChecker, type OnEdge } from "../health/health-checker.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import { LoopRows } from "../stats/counter-blocks.ts";
import type { TicketSeed } from "../tls/ticket-ratchet.ts";
import type { TlsTermination } from "../tls/tls-termination.ts";
import type {
  ChangeProblem,
  EngineCommand,
  EngineReport,
  ProxyProgramData,
  ServerId,
} from "./engine-messages.ts";
import { parseEngineCommand, parseProgramData, parseSocketId } from "./parse-engine-message.ts";
import { ProxyState } from "./proxy-state.ts";
import { hasTunnels } from "./socket-id.ts";

/** A socket of a listener that is gone, until it is closed. */
const NOBODYS: ListenerRole = { listener: "", bytesIn: 0, bytesOut: 0 };

/** Streams of tunnels that wait to be accepted. */
const TUNNEL_BACKLOG = 4096;

type ResolveCallback = (addresses: readonly string[]) => void;

/** The proxy in one loop: does what the engine says, and reports what the others should know. */
class ProxyProgram implements LoopProgram {
  readonly #context: LoopContext;
  readonly #rows: LoopRows;
  readonly #state: ProxyState;
  #checker: HealthChecker | undefined;
  readonly #sessions = new Set<OpenSession>();
  readonly #resolving = new Map<number, ResolveCallback>();
  #requests = 0;
  #isDraining = false;

  constructor(context: LoopContext, { index }: ProxyProgramData, tls: TlsTermination | undefined) {
    this.#context = context;
    this.#rows = new LoopRows(index);
    this.#state = new ProxyState({
      host: this.#createHost(),
      rows: this.#rows,
      random: Math.random,
      watcher: {
        added: (group, server) => this.#checker?.added(group, server),
        removed: (group, server) => this.#checker?.removed(group, server),
      },
      onExperience: (id, failure) => this.#experienced(id, failure),
      onStay: (stay) => this.#report({ kind: "stay", stay }),
      tls,
    });
  }

  get openCount(): number {
    return this.#sessions.size + (this.#context.net.provider.busyTunnels ?? 0);
  }

  listener(socketId: string): AcceptHandler {
    return {
      onConnection: (fd) => this.#accepted(socketId, fd),
      onPaused: (reason) =>
        this.#context.log.warn(
          { listener: socketId, reason: reason === 0 ? "connection cap" : errnoName(reason) },
          "accepting pauses: no room for more connections",
        ),
      onResumed: () =>
        this.#context.log.info({ listener: socketId }, "accepting goes on: there is room again"),
      describe: () => this.#state.listenerRole(socketId) ?? NOBODYS,
    };
  }

  datagrams(socketId: string, fd: DatagramFd): { close(): void } {
    if (hasTunnels(socketId)) return this.#serveTunnels(socketId, fd);
    this.#state.addFront(socketId, fd);
    return {
      close: () => {
        this.#state.removeFront(socketId, fd);
        fd.close();
      },
    };
  }

  onHandedOver(fd: StreamFd, body: unknown): void {
    this.#state.accept(parseSocketId(body), fd);
  }

  onMessage(body: unknown): void {
    const command = parseEngineCommand(body);
    switch (command.kind) {
      case "block":
        this.#rows.addBlock(command.block);
        return;
      case "change":
        this.#change(command);
        return;
      case "checks":
        this.#setChecking(command.isOn);
        return;
      case "health":
        this.#state.group(command.id.group)?.setHealth(command.id, command.edge);
        return;
      case "experience":
        this.#checker?.experienced(command.id, command.failure);
        return;
      case "stay":
        this.#state.upstream(command.stay.upstream)?.noteStay(command.stay);
        return;
      case "resolved":
        this.#resolving.get(command.request)?.(command.addresses);
        this.#resolving.delete(command.request);
        return;
      case "cached-names":
        this.#listNames(command);
        return;
    }
  }

  drain(): void {
    this.#isDraining = true;
    this.#state.closeEntrances();
    for (const session of [...this.#sessions]) session.drain();
  }

  close(): void {
    this.#checker?.close();
    this.#state.closeEntrances();
    for (const session of [...this.#sessions]) session.abort();
  }

  #createHost(): SessionHost {
    const { net, log } = this.#context;
    const isDraining = (): boolean => this.#isDraining;
    return {
      net,
      log,
      sessions: this.#sessions,
      get isDraining() {
        return isDraining();
      },
      resolve: (name, callback) => {
        this.#requests += 1;
        this.#resolving.set(this.#requests, callback);
        this.#report({ kind: "resolve", request: this.#requests, name });
      },
    };
  }

  #serveTunnels(socketId: string, fd: DatagramFd): { close(): void } {
    const { net } = this.#context;
    const server = net.provider.serveTunnels?.(fd, { backlog: TUNNEL_BACKLOG });
    if (server !== undefined) return net.accept(server, this.listener(socketId));
    throw new CoreError("ERR_NOT_POSSIBLE_HERE", "tunnels of KCP need a secret");
  }

  #accepted(socketId: string, fd: StreamFd): void {
    const worker = this.#state.handover.next(socketId);
    const { name } = this.#context;
    if (worker !== undefined && worker !== name && this.#context.handTo(worker, fd, socketId))
      return;
    this.#state.accept(socketId, fd);
  }

  /** What servers were known to be they stay, until a check says otherwise. */
  #setChecking(isOn: boolean): void {
    this.#checker?.close();
    const talkTo = ({ group, member }: ServerId) => this.#state.talkTo(group, member);
    this.#checker = isOn ? new HealthChecker(this.#context.net, this.#onEdge, talkTo) : undefined;
    if (this.#checker === undefined) return;
    for (const group of this.#state.groups()) {
      for (const server of [...group.group.servers()]) this.#checker.added(group, server);
    }
  }

  readonly #onEdge: OnEdge = (id, edge, reason) => {
    this.#state.group(id.group)?.setHealth(id, edge);
    this.#report({ kind: "health", id, edge, reason });
  };

  #change({ request, changes }: Extract<EngineCommand, { kind: "change" }>): void {
    const problems: ChangeProblem[] = [];
    for (const [index, change] of changes.entries()) {
      try {
        this.#state.change(change);
      } catch (error) {
        problems.push({ index, message: messageOf(error) });
      }
    }
    this.#report({ kind: "changed", request, problems });
  }

  #listNames({ request, forget }: Extract<EngineCommand, { kind: "cached-names" }>): void {
    const hasForgotten =
      forget !== undefined && this.#state.dropCached(forget.listener, forget.name);
    const names = forget === undefined ? this.#state.cachedNames() : [];
    this.#report({ kind: "cached-names", request, names, hasForgotten });
  }

  #experienced(id: ServerId, failure: string | undefined): void {
    if (this.#checker !== undefined) this.#checker.experienced(id, failure);
    else this.#report({ kind: "experience", id, failure });
  }

  #report(report: EngineReport): void {
    this.#context.report(report);
  }
}

/**
 * Its data is `ProxyProgramData`.
 * @param createTls for loops that terminate TLS
 */
export function createProxyProgram(
  context: LoopContext,
  createTls?: (seed: TicketSeed) => TlsTermination,
): LoopProgram {
  const data = parseProgramData(context.data);
  return new ProxyProgram(context, data, data.tickets && createTls?.(data.tickets));
}
