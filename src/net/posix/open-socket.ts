import { isWildcard } from "../../core/model/address.ts";
import { ERRNO } from "../../platform/errno.ts";
import { SOCK_CLOEXEC, SOCK_DGRAM, SOCK_NONBLOCK, SOCK_STREAM } from "../../platform/linux/abi.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { domainOf } from "../../platform/linux/sockaddr.ts";
import { listen, socket } from "../../platform/linux/socket-calls.ts";
import { bindTo, connectTo } from "../../platform/linux/socket-names.ts";
import {
  setNoDelay,
  setPacketInfo,
  setReceiveBuffer,
  setReuseAddress,
  setReusePort,
  setSendBuffer,
  setV6Only,
} from "../../platform/linux/socket-options.ts";
import type { SocketAddress } from "../../platform/socket-address.ts";
import type { DatagramOptions, StreamOptions } from "../fd.ts";

const FLAGS = SOCK_NONBLOCK | SOCK_CLOEXEC;

/** A descriptor, or -1 and the negative errno; `result` may be -EINPROGRESS with a descriptor. */
export interface OpenedSocket {
  readonly descriptor: number;
  readonly result: number;
}

export interface ListeningOptions {
  readonly backlog: number;
  /** Other sockets of this program listen on the same address. Not for unix sockets. */
  readonly shared: boolean;
}

export function openListening(on: SocketAddress, options: ListeningOptions): OpenedSocket {
  return opened(socket(domainOf(on), SOCK_STREAM | FLAGS, 0), (fd) =>
    firstFailure(
      () => (on.family === "unix" ? 0 : setReuseAddress(fd)),
      () => (options.shared && on.family !== "unix" ? setReusePort(fd) : 0),
      () => (on.family === "v6" ? setV6Only(fd) : 0),
      // Accepted sockets inherit it: one system call less for each of them.
      () => (on.family === "unix" ? 0 : setNoDelay(fd)),
      () => bindTo(fd, on),
      () => listen(fd, options.backlog),
    ),
  );
}

/** Whether an address is free of all others who listen: 0, or a negative errno. */
export function probeBind(on: SocketAddress): number {
  // Binding the path of a unix socket makes a file: the real bind tells there.
  if (on.family === "unix") return 0;
  const { descriptor, result } = opened(socket(domainOf(on), SOCK_STREAM | FLAGS, 0), (fd) =>
    firstFailure(
      () => setReuseAddress(fd),
      () => (on.family === "v6" ? setV6Only(fd) : 0),
      () => bindTo(fd, on),
    ),
  );
  if (descriptor >= 0) close(descriptor);
  return result;
}

/** Written out step by step: it is called for every connection of a proxy. TCP_NODELAY comes later. */
export function openConnecting(to: SocketAddress, options?: StreamOptions): OpenedSocket {
  const descriptor = socket(domainOf(to), SOCK_STREAM | FLAGS, 0);
  if (descriptor < 0) return { descriptor: -1, result: descriptor };
  const bound = options?.from === undefined ? 0 : bindTo(descriptor, options.from);
  return keptOrClosed(descriptor, bound < 0 ? bound : connectTo(descriptor, to));
}

export function openDatagram(on: SocketAddress, options?: DatagramOptions): OpenedSocket {
  const connectedTo = options?.connectTo;
  const bufferBytes = options?.bufferBytes;
  // Who called one of several addresses of this machine takes answers from that one alone.
  const isAnswering = connectedTo === undefined && on.family !== "unix" && isWildcard(on.ip);
  return opened(socket(domainOf(on), SOCK_DGRAM | FLAGS, 0), (fd) =>
    firstFailure(
      () => (options?.shared === true ? setReusePort(fd) : 0),
      () => (bufferBytes === undefined ? 0 : setReceiveBuffer(fd, bufferBytes)),
      () => (bufferBytes === undefined ? 0 : setSendBuffer(fd, bufferBytes)),
      () => (on.family === "v6" ? setV6Only(fd) : 0),
      () => (isAnswering ? setPacketInfo(fd, on.family === "v6") : 0),
      () => bindTo(fd, on),
      () => (connectedTo === undefined ? 0 : connectTo(fd, connectedTo)),
    ),
  );
}

function opened(descriptor: number, prepare: (descriptor: number) => number): OpenedSocket {
  if (descriptor < 0) return { descriptor: -1, result: descriptor };
  return keptOrClosed(descriptor, prepare(descriptor));
}

function keptOrClosed(descriptor: number, result: number): OpenedSocket {
  if (result >= 0 || result === -ERRNO.EINPROGRESS) return { descriptor, result };
  close(descriptor);
  return { descriptor: -1, result };
}

function firstFailure(...steps: readonly (() => number)[]): number {
  for (const step of steps) {
    const result = step();
    if (result < 0) return result;
  }
  return 0;
}
