import { createSocket } from "node:dgram";
import { connect } from "node:net";
import { ERRNO, errnoResult } from "../../platform/errno.ts";
import { type SocketAddress, unixAddress } from "../../platform/socket-address.ts";
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
import { nodeAddress, nodePath } from "./node-address.ts";
import { NodeServer } from "./node-server.ts";
import { NodeStream } from "./node-stream.ts";

const CLOCK: Clock = {
  nowMs: () => performance.now(),
  callAt: (atMs, callback) => {
    const delayMs = Math.ceil(atMs - performance.now());
    if (delayMs <= 0) {
      const immediate = setImmediate(callback);
      return { cancel: () => clearImmediate(immediate) };
    }
    if (!Number.isFinite(delayMs)) return { cancel: () => undefined };
    const timeout = setTimeout(callback, Math.min(delayMs, MAX_DELAY_MS));
    return { cancel: () => clearTimeout(timeout) };
  },
};
/** What Node's timers hold; waking early does no harm. */
const MAX_DELAY_MS = 2 ** 31 - 1;

/** Node's own sockets: for platforms without `posix`. Node's event loop drives the loop. */
export class NodeProvider implements Provider {
  readonly name = "node";
  readonly selector: HostSelector = new HostSelector();
  readonly clock: Clock = CLOCK;
  readonly pipes: PipePool | undefined = undefined;
  readonly adopt: Adopter | undefined = undefined;
  readonly #batch = new ReceivedBatch();

  allocate(byteCount: number): Region {
    return { bytes: new Uint8Array(byteCount), address: 0 };
  }

  connect(to: SocketAddress, options?: StreamOptions): StreamFd {
    const from = options?.from;
    const common = { allowHalfOpen: true, noDelay: true };
    const socket =
      to.family === "unix"
        ? connect({ ...common, path: nodePath(to.path) })
        : connect({
            ...common,
            host: to.ip,
            port: to.port,
            ...(from === undefined || from.family === "unix"
              ? {}
              : { localAddress: from.ip, localPort: from.port }),
          });
    return new NodeStream(this.selector, socket);
  }

  listen(on: SocketAddress, options: ListenOptions): ServerFd {
    return new NodeServer(this.selector, on, options.backlog);
  }

  bindDatagram(on: SocketAddress, options?: DatagramOptions): DatagramFd {
    if (on.family === "unix") return this.#refused(on);
    const isV6 = on.family === "v6";
    const socket = createSocket({
      type: isV6 ? "udp6" : "udp4",
      ipv6Only: isV6,
      reuseAddr: options?.shared ?? false,
      ...(options?.bufferBytes === undefined
        ? {}
        : { recvBufferSize: options.bufferBytes, sendBufferSize: options.bufferBytes }),
    });
    const peer = options?.connectTo;
    const datagram: HostDatagram = new HostDatagram(this.selector, this.#batch, {
      send: (bytes, to) => {
        const target = to ?? peer;
        if (target === undefined || target.family === "unix") return;
        // A datagram that can not be sent is lost, as UDP may.
        if (peer === undefined) socket.send(bytes, target.port, target.ip, () => undefined);
        else socket.send(bytes, () => undefined);
      },
      localAddress: () => {
        const { address, port } = socket.address();
        return nodeAddress(address, port) ?? on;
      },
      close: () => socket.close(),
    });
    socket.on("message", (bytes, sender) => {
      const from = nodeAddress(sender.address, sender.port);
      if (from !== undefined) datagram.arrived(bytes, from);
    });
    socket.on("error", (error: NodeJS.ErrnoException) =>
      datagram.failed(errnoResult(error.code ?? "EIO")),
    );
    socket.bind({ address: on.ip, port: on.port }, () => {
      if (peer === undefined || peer.family === "unix") datagram.opened();
      else socket.connect(peer.port, peer.ip, () => datagram.opened());
    });
    return datagram;
  }

  close(): void {
    this.selector.close();
  }

  #refused(on: SocketAddress): DatagramFd {
    const datagram = new HostDatagram(this.selector, this.#batch, {
      send: () => undefined,
      localAddress: () => on ?? unixAddress(""),
      close: () => undefined,
    });
    datagram.failed(-ERRNO.EAFNOSUPPORT);
    return datagram;
  }
}
