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
} from "../fd.ts";
import type { Region } from "../region.ts";
import { KcpEngine } from "./kcp-engine.ts";
import type { KcpOptions } from "./kcp-options.ts";
import { KcpSelector } from "./kcp-selector.ts";

/**
 * Reliable, secret streams over UDP. It stands on another provider, which has the datagrams; all streams to one
 * address share a tunnel.
 */
export class KcpProvider implements Provider {
  readonly name = "kcp";
  readonly selector: Selector;
  readonly clock: Clock;
  readonly pipes: PipePool | undefined = undefined;
  readonly adopt: Adopter | undefined = undefined;
  readonly engine: KcpEngine;
  readonly #base: Provider;
  readonly #own: KcpSelector;

  constructor(base: Provider, options: KcpOptions) {
    this.#base = base;
    this.clock = base.clock;
    this.engine = new KcpEngine(base, options);
    this.#own = new KcpSelector(base.selector, base.clock, this.engine);
    this.selector = this.#own;
  }

  allocate(byteCount: number): Region {
    return this.#base.allocate(byteCount);
  }

  connect(to: SocketAddress): StreamFd {
    return this.engine.connect(to);
  }

  listen(on: SocketAddress, options: ListenOptions): ServerFd {
    return this.engine.serve(this.#base.bindDatagram(on), options.backlog);
  }

  bindDatagram(on: SocketAddress, options?: DatagramOptions): DatagramFd {
    return this.#base.bindDatagram(on, options);
  }

  close(): void {
    this.#own.close();
    this.engine.close();
    this.#base.close();
  }
}
