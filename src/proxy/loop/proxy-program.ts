import type { AcceptHandler } from "../../net/acceptor.ts";
import type {
  CreateLoopProgram,
  LoopContext,
  LoopProgram,
} from "../../net/threads/loop-program.ts";
import { errnoName } from "../../platform/errno.ts";
import { HealthChecker } from "../health/health-checker.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import { LoopRows } from "../stats/counter-blocks.ts";
import type {
  ChangeProblem,
  EngineCommand,
  EngineReport,
  ProxyProgramData,
  ServerId,
} from "./engine-messages.ts";
import { ProxyState } from "./proxy-state.ts";

type ResolveCallback = (addresses: readonly string[]) => void;

/** The proxy in one loop: does what the engine says, and reports what the others should know. */
class ProxyProgram implements LoopProgram {
  readonly #context: LoopContext;
  readonly #rows: LoopRows;
  readonly #state: ProxyState;
  readonly #checker: HealthChecker | undefined;
  readonly #sessions = new Set<OpenSession>();
  readonly #resolving = new Map<number, ResolveCallback>();
  #requests = 0;
  #isDraining = false;

  constructor(context: LoopContext, { index, checks }: ProxyProgramData) {
    this.#context = context;
    this.#rows = new LoopRows(index);
    this.#checker = checks
      ? new HealthChecker(context.net, (id, edge, reason) => {
          this.#state.group(id.group)?.setHealth(id, edge);
          this.#report({ kind: "health", id, edge, reason });
        })
      : undefined;
    this.#state = new ProxyState({
      host: this.#createHost(),
      rows: this.#rows,
      random: Math.random,
      watcher: this.#checker,
      onExperience: (id, failure) => this.#experienced(id, failure),
      onStay: (stay) => this.#report({ kind: "stay", stay }),
    });
  }

  get openCount(): number {
    return this.#sessions.size;
  }

  listener(socketId: string): AcceptHandler {
    return {
      onConnection: (fd) => this.#state.accept(socketId, fd),
      onPaused: (reason) =>
        this.#context.log.warn(
          { listener: socketId, reason: reason === 0 ? "connection cap" : errnoName(reason) },
          "accepting pauses: no room for more connections",
        ),
    };
  }

  onMessage(body: unknown): void {
    // The engine is the only one who sends, and sends only what EngineCommand names.
    const command = body as EngineCommand;
    switch (command.kind) {
      case "block":
        this.#rows.addBlock(command.block);
        return;
      case "change":
        this.#change(command);
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

  #change({ request, changes }: Extract<EngineCommand, { kind: "change" }>): void {
    const problems: ChangeProblem[] = [];
    for (const [index, change] of changes.entries()) {
      try {
        this.#state.change(change);
      } catch (error) {
        problems.push({ index, message: error instanceof Error ? error.message : String(error) });
      }
    }
    this.#report({ kind: "changed", request, problems });
  }

  #experienced(id: ServerId, failure: string | undefined): void {
    if (this.#checker !== undefined) this.#checker.experienced(id, failure);
    else this.#report({ kind: "experience", id, failure });
  }

  #report(report: EngineReport): void {
    this.#context.report(report);
  }
}

/** Its data is `ProxyProgramData`. */
export const createProxyProgram: CreateLoopProgram = (context) =>
  // The engine is the only one who starts it.
  new ProxyProgram(context, context.data as ProxyProgramData);
