/**
 * `portolan/net`: descriptors, event loops and buffers. `NodeProvider` works everywhere and is driven by Node's
 * own loop; `MemoryProvider` is a simulated network with a clock of its own, for tests that are exact.
 */

export { CoreError, type CoreErrorOptions, type ErrorCode } from "../core/errors.ts";
export { type AcceptHandler, Acceptor, type ListenerRole } from "../net/acceptor.ts";
export { Connection, type ConnectionHandler, type ConnectionOptions } from "../net/connection.ts";
export {
  type Adopter,
  type Clock,
  type DatagramFd,
  type DatagramOptions,
  type DatagramPeer,
  ENDING,
  FAILED,
  type Fd,
  HANGUP,
  type HandOff,
  type ListenOptions,
  type PeerKey,
  type Pipe,
  type PipePool,
  type Provider,
  READABLE,
  type Selector,
  type ServerFd,
  type SpliceEnd,
  type StreamFd,
  type StreamOptions,
  WRITABLE,
} from "../net/fd.ts";
export { EventLoopGroup, type GroupResource } from "../net/groups/event-loop-group.ts";
export {
  EventLoopWrapper,
  type GroupLoop,
  type LoopResource,
} from "../net/groups/event-loop-wrapper.ts";
export { LocalLoop } from "../net/groups/local-loop.ts";
export type { HostDatagram } from "../net/host-datagram.ts";
export type { HostSelector } from "../net/host-selector.ts";
export type { LoopCounters, LoopStats } from "../net/loop-counters.ts";
export type { Line, Segment } from "../net/memory/line.ts";
export type { MemoryHost } from "../net/memory/memory-host.ts";
export { MemoryProvider } from "../net/memory/memory-provider.ts";
export type { MemoryServer } from "../net/memory/memory-server.ts";
export type { BoundTable } from "../net/memory/simulated-network.ts";
export { type LinkConditions, SimulatedNetwork } from "../net/memory/simulated-network.ts";
export { VirtualClock } from "../net/memory/virtual-clock.ts";
export { type BufferSizes, NetEventLoop, type NetEventLoopOptions } from "../net/net-event-loop.ts";
export { NodeProvider } from "../net/node/node-provider.ts";
export type { Region, RegionPool } from "../net/region.ts";
export { type BufferReader, type BufferWriter, RingBuffer } from "../net/ring-buffer.ts";
export {
  type Cancellable,
  type ChannelDescription,
  type ChannelEnds,
  type ChannelEntry,
  type ChannelId,
  type ChannelPage,
  type ChannelRole,
  type ReadyHandler,
  SelectorEventLoop,
  type SessionRole,
} from "../net/selector-event-loop.ts";
export { Timer } from "../net/timer-queue.ts";
export { ERRNO, errnoName } from "../platform/errno.ts";
export {
  formatSocketAddress,
  type IpSocketAddress,
  ipAddress,
  parseSocketAddress,
  type SocketAddress,
  type UnixSocketAddress,
  unixAddress,
} from "../platform/socket-address.ts";
