import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { Fd } from "../../net/fd.ts";
import { KCP_DEFAULTS, type TunnelSettings } from "../../net/kcp/kcp-options.ts";
import { MixedProvider } from "../../net/kcp/mixed-provider.ts";
import { TunnelCounters } from "../../net/kcp/tunnel-counters.ts";
import { listenError } from "../../net/listeners/listen-error.ts";
import { NetEventLoop } from "../../net/net-event-loop.ts";
import { NodeProvider } from "../../net/node/node-provider.ts";
import type { ChannelId } from "../../net/selector-event-loop.ts";
import { LoopProfiler } from "../../net/threads/loop-profiler.ts";
import type { LoopProgram } from "../../net/threads/loop-program.ts";
import { ERRNO } from "../../platform/errno.ts";
import { findSocketHolder } from "../../platform/linux/socket-holder.ts";
import type { LoopFigures } from "../engine-stats.ts";
import type { EngineCommand, ProxyProgramData } from "../loop/engine-messages.ts";
import { parseEngineReport } from "../loop/parse-engine-message.ts";
import { createProxyProgram } from "../loop/proxy-program.ts";
import {
  DEFAULT_GROUP,
  type Fleet,
  type FleetEvents,
  type FleetGroup,
  type OpenSocket,
  type RunningLoop,
  type SocketWish,
} from "./fleet.ts";

export interface NodeFleetOptions {
  readonly log: Log;
  readonly sleep: (ms: number) => Promise<void>;
  readonly tunnels?: TunnelSettings | undefined;
}

const NAME = "main";
const BACKLOG = 4096;
const PLACE = 0;
const CHECK_MS = 10;

/** One loop on this thread, on Node's own sockets: for platforms without system calls. */
export class NodeFleet implements Fleet {
  readonly #net: NetEventLoop;
  readonly #program: LoopProgram;
  readonly #profiler = new LoopProfiler();
  readonly #options: NodeFleetOptions;
  readonly #tunnelCounters = new TunnelCounters();

  constructor(options: NodeFleetOptions, events: FleetEvents) {
    this.#options = options;
    const { log, tunnels } = options;
    const node = new NodeProvider();
    this.#net = new NetEventLoop({
      provider:
        tunnels === undefined
          ? node
          : new MixedProvider(node, {
              ...KCP_DEFAULTS,
              ...tunnels,
              counters: this.#tunnelCounters,
            }),
      onError: (error) => log.error({ err: error }, "a callback of the loop failed"),
    });
    const data: ProxyProgramData = { index: PLACE };
    this.#program = createProxyProgram({
      name: NAME,
      net: this.#net,
      log,
      data,
      // Later, as a thread would.
      report: (body) => queueMicrotask(() => events.onReport(PLACE, parseEngineReport(body))),
      sendToPeer: () => false,
      handTo: () => false,
    });
    this.#net.loop.start();
  }

  places(): readonly number[] {
    return [PLACE];
  }

  send(_place: number, command: EngineCommand): boolean {
    this.#net.loop.runOnLoop(() => this.#program.onMessage(command));
    return true;
  }

  groups(): readonly FleetGroup[] {
    const channels = async () => this.#net.loop.channels();
    return [{ name: DEFAULT_GROUP, loops: [{ name: NAME, place: PLACE, channels }] }];
  }

  stats(): readonly LoopFigures[] {
    const tunnels = this.#options.tunnels && this.#tunnelCounters.read();
    return [{ name: NAME, ...this.#net.loop.counters.read(), tunnels }];
  }

  loops(): readonly RunningLoop[] {
    const { loop } = this.#net;
    const channels = async () => loop.channels();
    const dismiss = async (id: ChannelId): Promise<void> => {
      if (loop.dismiss(id)) return;
      throw new CoreError("ERR_NOT_FOUND", `event loop ${NAME}: a channel is not there any more`);
    };
    return [{ name: NAME, group: DEFAULT_GROUP, serial: PLACE, channels, dismiss }];
  }

  addGroup(): void {
    throw oneLoopOnly();
  }

  async dropGroup(): Promise<void> {
    throw oneLoopOnly();
  }

  async addLoop(): Promise<string> {
    throw oneLoopOnly();
  }

  async retireLoop(): Promise<void> {
    throw oneLoopOnly();
  }

  async endLoop(): Promise<void> {
    throw oneLoopOnly();
  }

  link(): void {
    // There is nobody to hand over to.
  }

  async profile(name: string, durationMs: number): Promise<string> {
    if (name !== NAME) {
      throw new CoreError(
        "ERR_NOT_FOUND",
        `event loop "${name}" is not there; there are "${NAME}"`,
      );
    }
    if (this.#profiler.isRunning) {
      throw new CoreError("ERR_NOT_FOUND", `event loop ${NAME}: a profile is being taken already`);
    }
    this.#profiler.start();
    await this.#options.sleep(durationMs);
    return this.#profiler.stop();
  }

  async listen(wish: SocketWish): Promise<OpenSocket> {
    const { provider } = this.#net;
    const { id, transport, address } = wish;
    if (transport === "datagram") {
      const fd = provider.bindDatagram(address);
      await this.#opened(fd, wish);
      return openSocket(fd, this.#program.datagrams?.(id, fd) ?? fd);
    }
    const fd = provider.listen(address, { backlog: BACKLOG });
    await this.#opened(fd, wish);
    return openSocket(fd, this.#net.accept(fd, this.#program.listener(id)));
  }

  closeUnclaimed(): void {
    // Nothing can be given to it.
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

  async #opened(fd: Fd, { address, transport }: SocketWish): Promise<void> {
    while (fd.finishOpen() === -ERRNO.EINPROGRESS) await this.#options.sleep(1);
    const result = fd.finishOpen();
    if (result === 0) return;
    const protocol = transport === "stream" ? "TCP" : "UDP";
    throw listenError(address, result, { protocol, holder: findSocketHolder(address, protocol) });
  }
}

function openSocket(fd: Fd, user: { close(): void }): OpenSocket {
  const close = async (): Promise<void> => user.close();
  return {
    address: fd.localAddress(),
    descriptors: () => [],
    moveTo: async () => undefined,
    release: close,
    close,
  };
}

function oneLoopOnly(): CoreError {
  return new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    'the provider "node" has one loop, on the main thread; more of them need the provider "posix" (Linux)',
  );
}
