import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { ServerFd } from "../../net/fd.ts";
import type { LoopStats } from "../../net/loop-counters.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { NodeProvider } from "../../net/node/node-provider.ts";
import type { LoopProgram } from "../../net/threads/loop-program.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import { formatSocketAddress, type SocketAddress } from "../../platform/socket-address.ts";
import type { EngineCommand, EngineReport, ProxyProgramData } from "../loop/engine-messages.ts";
import { createProxyProgram } from "../loop/proxy-program.ts";
import type { Fleet, FleetEvents, OpenSocket } from "./fleet.ts";

export interface NodeFleetOptions {
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
}

const NAME = "main";
const BACKLOG = 4096;
const PLACE = 0;
const CHECK_MS = 10;

/** One loop on this thread, on Node's own sockets: for platforms without system calls. */
export class NodeFleet implements Fleet {
  readonly size = 1;
  readonly #net: NetEventLoop;
  readonly #program: LoopProgram;
  readonly #options: NodeFleetOptions;

  constructor(options: NodeFleetOptions, events: FleetEvents) {
    this.#options = options;
    const { log } = options;
    this.#net = new NetEventLoop({
      provider: new NodeProvider(),
      onError: (error) => log.error({ err: error }, "a callback of the loop failed"),
    });
    const data: ProxyProgramData = { index: PLACE, checks: true };
    this.#program = createProxyProgram({
      name: NAME,
      net: this.#net,
      log,
      data,
      // The program sends only what EngineReport names; later, as a thread would.
      report: (body) => queueMicrotask(() => events.onReport(PLACE, body as EngineReport)),
      sendToPeer: () => false,
    });
    this.#net.loop.start();
  }

  send(_place: number, command: EngineCommand): boolean {
    this.#net.loop.runOnLoop(() => this.#program.onMessage(command));
    return true;
  }

  stats(): readonly (LoopStats & { readonly name: string })[] {
    return [{ name: NAME, ...this.#net.loop.counters.read() }];
  }

  async listen(socketId: string, on: SocketAddress): Promise<OpenSocket> {
    const fd = this.#net.provider.listen(on, { backlog: BACKLOG });
    await this.#opened(fd, on);
    const acceptor = this.#net.accept(fd, this.#program.listener(socketId));
    return {
      address: fd.localAddress(),
      close: async () => acceptor.close(),
    };
  }

  async drain(timeoutMs: number): Promise<void> {
    this.#net.loop.runOnLoop(() => this.#program.drain());
    const endMs = performance.now() + timeoutMs;
    do await this.#options.sleep(CHECK_MS);
    while (this.#program.openCount > 0 && performance.now() < endMs);
  }

  async close(): Promise<void> {
    this.#program.close();
    this.#net.loop.close();
  }

  async #opened(fd: ServerFd, on: SocketAddress): Promise<void> {
    while (fd.finishOpen() === -ERRNO.EINPROGRESS) await this.#options.sleep(1);
    const result = fd.finishOpen();
    if (result === 0) return;
    throw new CoreError(
      "ERR_LISTEN",
      `can not listen on ${formatSocketAddress(on)}: ${errnoName(result)}`,
    );
  }
}
