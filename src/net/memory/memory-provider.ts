import { ERRNO } from "../../platform/errno.ts";
import { formatSocketAddress, type SocketAddress } from "../../platform/socket-address.ts";
import type {
  Adopter,
  Clock,
  DatagramFd,
  DatagramOptions,
  ListenOptions,
  PipePool,
  Provider,
  ServerFd,
  StreamFd,
  StreamOptions,
} from "../fd.ts";
import { HostDatagram, ReceivedBatch } from "../host-datagram.ts";
import { HostSelector } from "../host-selector.ts";
import type { Region } from "../region.ts";
import { Line } from "./line.ts";
import type { MemoryHost } from "./memory-host.ts";
import { MemoryServer } from "./memory-server.ts";
import { MemoryStream } from "./memory-stream.ts";

/** What UDP over IPv4 carries. */
const MAX_DATAGRAM_BYTES = 65_507;

/** The sockets of one loop on a host of the simulated network. */
export class MemoryProvider implements Provider {
  readonly name = "memory";
  readonly selector: HostSelector = new HostSelector();
  readonly clock: Clock;
  readonly pipes: PipePool | undefined = undefined;
  readonly adopt: Adopter | undefined = undefined;
  readonly #host: MemoryHost;
  readonly #batch = new ReceivedBatch();

  constructor(host: MemoryHost) {
    this.#host = host;
    this.clock = host.network.clock;
  }

  allocate(byteCount: number): Region {
    return { bytes: new Uint8Array(byteCount), address: 0 };
  }

  connect(to: SocketAddress, options?: StreamOptions): StreamFd {
    const host = this.#host;
    const target = host.hostOf(to);
    const local = options?.from === undefined ? host.sourceFor(to) : host.named(options.from);
    const targetName = target?.name ?? host.name;
    const out = new Line(host.network, host.name, targetName);
    const back = new Line(host.network, targetName, host.name);
    const openResult = target === undefined ? -ERRNO.ENETUNREACH : -ERRNO.EINPROGRESS;
    const stream = new MemoryStream(this.selector, { local, remote: to, out, openResult });
    back.deliverTo((segment) => stream.deliver(segment));
    out.deliverTo(() => {
      const server = target?.servers.find(to);
      const lines = { local: to, remote: local, incoming: out, out: back };
      if (server?.arrived(lines) !== true) back.send({ kind: "reset" });
    });
    if (target !== undefined) out.send({ kind: "syn" });
    return stream;
  }

  listen(on: SocketAddress, options: ListenOptions): ServerFd {
    const host = this.#host;
    const address = host.named(on);
    return new MemoryServer(host, this.selector, {
      address,
      backlog: options.backlog,
      openResult: bindResult(host, address, host.servers.has(address)),
    });
  }

  bindDatagram(on: SocketAddress, options?: DatagramOptions): DatagramFd {
    const host = this.#host;
    const local = host.named(on);
    const connectedTo = options?.connectTo;
    const result = bindResult(host, local, host.datagrams.has(local));
    const datagram: HostDatagram = new HostDatagram(this.selector, this.#batch, {
      send: (bytes, to) =>
        this.#send(bytes, local, to ?? connectedTo, () => {
          if (connectedTo !== undefined) datagram.failed(-ERRNO.ECONNREFUSED);
        }),
      // As the kernel does: one that is connected has the address that it sends from.
      localAddress: () => (connectedTo === undefined ? local : host.sourceOf(local, connectedTo)),
      // Where it could not bind, the address is another's.
      close: () => result === 0 && host.datagrams.delete(local),
      hears: (from) => connectedTo === undefined || isSame(from, connectedTo),
    });
    if (result < 0) {
      datagram.failed(result);
      return datagram;
    }
    host.datagrams.set(local, datagram);
    datagram.opened();
    return datagram;
  }

  close(): void {
    this.selector.close();
  }

  /** @param refused as ICMP would tell: there is the host, and nobody has the port */
  #send(
    bytes: Uint8Array,
    from: SocketAddress,
    to: SocketAddress | undefined,
    refused: () => void,
  ): void {
    if (to === undefined || bytes.length > MAX_DATAGRAM_BYTES) return;
    const target = this.#host.hostOf(to);
    if (target === undefined) return;
    const source = this.#host.sourceOf(from, to);
    const { network, name } = this.#host;
    network.deliverOrDrop(name, target.name, bytes.length, () => {
      const receiver = target.datagrams.find(to);
      if (receiver !== undefined) receiver.arrived(bytes, source);
      else network.deliverOrDrop(target.name, name, 0, refused);
    });
  }
}

function isSame(a: SocketAddress, b: SocketAddress): boolean {
  return formatSocketAddress(a) === formatSocketAddress(b);
}

function bindResult(host: MemoryHost, address: SocketAddress, isTaken: boolean): number {
  if (!host.canBind(address)) return -ERRNO.EADDRNOTAVAIL;
  return isTaken ? -ERRNO.EADDRINUSE : 0;
}
