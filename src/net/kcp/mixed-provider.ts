import type { SocketAddress } from "../../platform/socket-address.ts";
import type {
  Adopter,
  Clock,
  DatagramFd,
  DatagramOptions,
  ListenOptions,
  PipePool,
  Provider,
  Selector,
  ServerFd,
  StreamFd,
  StreamOptions,
} from "../fd.ts";
import type { Region } from "../region.ts";
import { KcpEngine } from "./kcp-engine.ts";
import type { KcpOptions } from "./kcp-options.ts";
import { KcpSelector } from "./kcp-selector.ts";

/** Another provider, with which addresses that say so are reached by KCP. */
export class MixedProvider implements Provider {
  readonly name: string;
  readonly selector: Selector;
  readonly clock: Clock;
  readonly pipes: PipePool | undefined;
  readonly adopt: Adopter | undefined;
  readonly #base: Provider;
  readonly #engine: KcpEngine;
  readonly #own: KcpSelector;

  constructor(base: Provider, options: KcpOptions) {
    this.#base = base;
    this.name = base.name;
    this.clock = base.clock;
    this.pipes = base.pipes;
    this.adopt = base.adopt;
    this.#engine = new KcpEngine(base, options);
    this.#own = new KcpSelector(base.selector, base.clock, this.#engine);
    this.selector = this.#own;
  }

  allocate(byteCount: number): Region {
    return this.#base.allocate(byteCount);
  }

  connect(to: SocketAddress, options?: StreamOptions): StreamFd {
    const isTunnelled = to.family !== "unix" && to.transport === "kcp";
    return isTunnelled ? this.#engine.connect(to) : this.#base.connect(to, options);
  }

  listen(on: SocketAddress, options: ListenOptions): ServerFd {
    return this.#base.listen(on, options);
  }

  /** The streams of the tunnels that clients open to a socket for datagrams. They need it longer than its listener. */
  serveTunnels(fd: DatagramFd, options: ListenOptions): ServerFd {
    return this.#engine.serve(fd.share?.() ?? fd, options.backlog);
  }

  get busyTunnels(): number {
    return this.#engine.busyCount;
  }

  bindDatagram(on: SocketAddress, options?: DatagramOptions): DatagramFd {
    return this.#base.bindDatagram(on, options);
  }

  close(): void {
    this.#own.close();
    this.#engine.close();
    this.#base.close();
  }
}
