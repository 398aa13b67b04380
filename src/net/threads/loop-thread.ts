import process from "node:process";
import { MessageChannel, type MessagePort, type Transferable, Worker } from "node:worker_threads";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { TunnelSettings } from "../kcp/kcp-options.ts";
import { TunnelCounters, type TunnelStats } from "../kcp/tunnel-counters.ts";
import type { Transport } from "../listeners/socket-lending.ts";
import { LoopCounters, type LoopStats } from "../loop-counters.ts";
import { DescriptorLedger } from "../posix/descriptor-ledger.ts";
import type { ChannelEntry, ChannelId } from "../selector-event-loop.ts";
import type { ExitGuard, StoppableLoop } from "./exit-guard.ts";
import type { LoopCommand, LoopReport, LoopThreadData } from "./loop-messages.ts";
import { LoopSignal } from "./loop-signal.ts";
import { Requests } from "./requests.ts";
import type { WakePool } from "./wake-pool.ts";
import { workerArguments } from "./worker-arguments.ts";

/** What the loops of one process share. */
export interface LoopThreadHost {
  readonly guard: ExitGuard;
  readonly wakes: WakePool;
  readonly log: Log;
  /** RLIMIT_NOFILE. */
  readonly maxDescriptors: number;
  /** Starts a thread; another one than Node's own way is for tests, which run the sources. */
  readonly startWorker?: (entry: URL, options: WorkerStart) => Worker;
}

export interface WorkerStart {
  readonly name: string;
  readonly workerData: unknown;
  readonly transferList: readonly Transferable[];
  readonly resourceLimits: { readonly maxOldGenerationSizeMb?: number };
}

export interface LoopThreadOptions {
  readonly name: string;
  /** A module that calls `runLoopProgram`; see `workerUrl`. */
  readonly program: URL;
  readonly programData?: unknown;
  /** Accepting pauses at so many FDs. */
  readonly maxFds: number;
  /** Memory of the thread's heap; Node's default where it is not given. */
  readonly maxHeapMb?: number;
  /** For addresses of KCP. */
  readonly tunnels?: TunnelSettings | undefined;
  /** Whether it sleeps between any two events, also where to stay awake would pay. */
  readonly alwaysSleeps?: boolean;
  /** What the program reports. */
  readonly onReport?: (body: unknown) => void;
}

/** How a loop ended; `error` where it was not asked to. */
export interface LoopEnd {
  readonly error: Error | undefined;
}

/** A loop on a thread of its own, as the main thread sees it. */
export class LoopThread {
  readonly name: string;
  /** Settles when the thread is gone and its descriptors are closed; never rejects. */
  readonly ended: Promise<LoopEnd>;
  readonly #host: LoopThreadHost;
  readonly #worker: Worker;
  readonly #commands: MessagePort;
  readonly #wakeDescriptor: number;
  readonly #signal: LoopSignal;
  readonly #counters: LoopCounters;
  readonly #tunnels: TunnelCounters | undefined;
  readonly #ledgerMemory: SharedArrayBuffer;
  readonly #ledger: DescriptorLedger;
  readonly #requests = new Requests<LoopReport>();
  readonly #ready = this.#requests.add();
  /** Parts of lists that are on their way, by the number of the request. */
  readonly #listed = new Map<number, ChannelEntry[]>();
  readonly #onReport: (body: unknown) => void;
  readonly #stoppable: StoppableLoop;
  #wasAsked = false;
  #isRunning = true;

  /** Starts the thread. Settles when its loop runs; rejects where it ends before. */
  static async start(host: LoopThreadHost, options: LoopThreadOptions): Promise<LoopThread> {
    const thread = new LoopThread(host, options);
    await thread.#ready.answer;
    return thread;
  }

  private constructor(host: LoopThreadHost, options: LoopThreadOptions) {
    this.name = options.name;
    this.#host = host;
    this.#onReport = options.onReport ?? (() => undefined);
    this.#wakeDescriptor = host.wakes.take();
    const { port1, port2 } = new MessageChannel();
    this.#ledgerMemory = DescriptorLedger.allocate(host.maxDescriptors);
    const data: LoopThreadData = {
      name: options.name,
      commands: port2,
      wakeDescriptor: this.#wakeDescriptor,
      programData: options.programData,
      maxFds: options.maxFds,
      ledgerMemory: this.#ledgerMemory,
      counterMemory: LoopCounters.allocate(),
      signalMemory: LoopSignal.allocate(),
      alwaysSleeps: options.alwaysSleeps ?? false,
      tunnels: options.tunnels,
      tunnelMemory: TunnelCounters.allocate(),
    };
    this.#signal = new LoopSignal(data.signalMemory);
    this.#counters = new LoopCounters(data.counterMemory);
    if (options.tunnels !== undefined) this.#tunnels = new TunnelCounters(data.tunnelMemory);
    this.#ledger = new DescriptorLedger(this.#ledgerMemory);
    this.#commands = port1;
    this.#commands.on("message", (report: LoopReport) => this.#received(report));
    this.#stoppable = { signal: this.#signal, wake: () => this.#wake() };
    host.guard.add(this.#stoppable);
    this.#worker = (host.startWorker ?? startNodeWorker)(options.program, {
      name: options.name,
      workerData: data,
      transferList: [port2],
      resourceLimits:
        options.maxHeapMb === undefined ? {} : { maxOldGenerationSizeMb: options.maxHeapMb },
    });
    this.ended = this.#watch();
  }

  get isRunning(): boolean {
    return this.#isRunning;
  }

  /** Sends to the program. Nothing happens where the loop has ended. */
  send(body: unknown, transfer: readonly Transferable[] = []): void {
    this.#command({ kind: "program", body }, transfer);
  }

  /** Lends a listening socket, whose owner is the caller. */
  lend(listener: string, transport: Transport, descriptor: number): void {
    this.#command({ kind: "lend", listener, transport, descriptor });
  }

  /** Settles when the loop does not touch the socket any more; also where the loop is gone. */
  takeBack(descriptor: number): Promise<void> {
    return this.#askToLetGo((request) => ({ kind: "take-back", request, descriptor }));
  }

  /** Lets this loop and another one send to each other. */
  link(other: LoopThread): void {
    const { port1, port2 } = new MessageChannel();
    this.#addPeer(other, port1);
    other.#addPeer(this, port2);
  }

  /**
   * Settles when neither sends to the other any more; what one that is gone was sent is closed. For
   * loops of which one has ended: between two that run, a connection could be on its way.
   */
  async unlink(other: LoopThread): Promise<void> {
    await Promise.all([this.#forgetPeer(other), other.#forgetPeer(this)]);
    for (const loop of [this, other]) if (!loop.#isRunning) loop.#ledger.closeAll();
  }

  /** What the loop did so far; read without stopping it. */
  stats(): LoopStats {
    return this.#counters.read();
  }

  /** What its tunnels did so far; undefined where it has none. */
  tunnelStats(): TunnelStats | undefined {
    return this.#tunnels?.read();
  }

  async channels(): Promise<readonly ChannelEntry[]> {
    const answer = await this.#ask((request) => ({ kind: "channels", request }));
    return answer.kind === "channels" ? answer.channels : [];
  }

  /** Has one channel closed; rejects where it is not there any more. */
  async dismiss(id: ChannelId): Promise<void> {
    await this.#ask((request) => ({ kind: "dismiss", request, id }));
  }

  /** A CPU profile as `.cpuprofile` holds it. */
  async profile(durationMs: number): Promise<string> {
    const answer = await this.#ask((request) => ({ kind: "profile", request, durationMs }));
    return answer.kind === "profile" ? answer.profile : "";
  }

  /** Settles when the program has finished what was open; the caller sets the time for it. */
  async drain(): Promise<void> {
    await this.#ask((request) => ({ kind: "drain", request }));
  }

  /** Ends the loop now. */
  async stop(): Promise<LoopEnd> {
    this.#wasAsked = true;
    this.#signal.askToStop();
    this.#wake();
    return this.ended;
  }

  #watch(): Promise<LoopEnd> {
    return new Promise((resolve) => {
      let failure: Error | undefined;
      this.#worker.on("error", (error) => {
        failure = error instanceof Error ? error : new Error(String(error));
      });
      this.#worker.on("exit", (exitCode) => {
        const error = failure ?? (this.#wasAsked ? undefined : unasked(this.name, exitCode));
        this.#gone(error);
        resolve({ error });
      });
    });
  }

  #gone(error: Error | undefined): void {
    const { guard, wakes, log } = this.#host;
    this.#isRunning = false;
    guard.remove(this.#stoppable);
    this.#commands.close();
    wakes.giveBack(this.#wakeDescriptor);
    const closed = this.#ledger.closeAll();
    if (error !== undefined) {
      log.error({ err: error, loop: this.name, closed }, "an event loop died");
    }
    const options = error === undefined ? {} : { cause: error };
    this.#requests.failAll(
      new CoreError("ERR_LOOP_ENDED", `event loop ${this.name} has ended`, options),
    );
  }

  #received(report: LoopReport): void {
    switch (report.kind) {
      case "ready":
        this.#requests.answer(this.#ready.request, report);
        return;
      case "program":
        this.#onReport(report.body);
        return;
      case "log":
        this.#host.log[report.level]({ ...report.fields, loop: this.name }, report.message);
        return;
      case "refused":
        this.#requests.fail(
          report.request,
          new CoreError("ERR_NOT_FOUND", `event loop ${this.name}: ${report.reason}`),
        );
        return;
      case "channels":
        this.#noteChannels(report);
        return;
      default:
        this.#requests.answer(report.request, report);
    }
  }

  #noteChannels(report: Extract<LoopReport, { kind: "channels" }>): void {
    const { request, hasMore } = report;
    const channels = this.#listed.get(request) ?? [];
    channels.push(...report.channels);
    this.#listed.set(request, channels);
    if (hasMore) return;
    this.#listed.delete(request);
    this.#requests.answer(request, { ...report, channels });
  }

  #ask(command: (request: number) => LoopCommand): Promise<LoopReport> {
    if (!this.#isRunning) {
      return Promise.reject(new CoreError("ERR_LOOP_ENDED", `event loop ${this.name} has ended`));
    }
    const { request, answer } = this.#requests.add();
    this.#command(command(request));
    return answer;
  }

  #addPeer(other: LoopThread, port: MessagePort): void {
    const peer = {
      loop: other.name,
      port,
      wakeDescriptor: other.#wakeDescriptor,
      ledgerMemory: other.#ledgerMemory,
    };
    this.#command({ kind: "peer", ...peer }, [port]);
  }

  #forgetPeer({ name: loop }: LoopThread): Promise<void> {
    return this.#askToLetGo((request) => ({ kind: "peer-gone", request, loop }));
  }

  /** One that is gone has let go of everything. */
  async #askToLetGo(command: (request: number) => LoopCommand): Promise<void> {
    if (!this.#isRunning) return;
    try {
      await this.#ask(command);
    } catch (error) {
      if (this.#isRunning) throw error;
    }
  }

  #command(command: LoopCommand, transfer: readonly Transferable[] = []): void {
    if (!this.#isRunning) return;
    this.#commands.postMessage(command, transfer);
    this.#wake();
  }

  #wake(): void {
    if (this.#isRunning) this.#host.wakes.wake(this.#wakeDescriptor);
  }
}

function unasked(name: string, exitCode: number): Error {
  return new CoreError("ERR_LOOP_ENDED", `event loop ${name} ended by itself (${exitCode})`);
}

function startNodeWorker(entry: URL, options: WorkerStart): Worker {
  return new Worker(entry, {
    ...options,
    transferList: [...options.transferList],
    execArgv: workerArguments(process.execArgv),
  });
}
