import { type MessagePort, receiveMessageOnPort, type Transferable } from "node:worker_threads";
import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { signalEventFd } from "../../platform/linux/event-fd.ts";
import { loadAead } from "../../platform/linux/openssl/aead-calls.ts";
import { ownThreadId } from "../../platform/linux/thread-cpu.ts";
import type { Provider, StreamFd } from "../fd.ts";
import { KCP_DEFAULTS } from "../kcp/kcp-options.ts";
import { MixedProvider } from "../kcp/mixed-provider.ts";
import { nativeSealer } from "../kcp/native-sealer.ts";
import { TunnelCounters } from "../kcp/tunnel-counters.ts";
import { LoopCounters } from "../loop-counters.ts";
import { NetEventLoop } from "../net-event-loop.ts";
import { DescriptorLedger } from "../posix/descriptor-ledger.ts";
import { PosixProvider } from "../posix/posix-provider.ts";
import { WAKE_EVENTS } from "../posix/posix-selector.ts";
import { WatchedFd } from "../posix/watched-fd.ts";
import type { ReadyHandler } from "../selector-event-loop.ts";
import { createLoopLog } from "./loop-log.ts";
import type { LoopCommand, LoopReport, LoopThreadData, PeerMessage } from "./loop-messages.ts";
import { LoopProfiler } from "./loop-profiler.ts";
import type { CreateLoopProgram, LoopProgram } from "./loop-program.ts";
import { LoopSignal } from "./loop-signal.ts";

interface Peer {
  readonly port: MessagePort;
  readonly wakeDescriptor: number;
  readonly ledger: DescriptorLedger;
}

const DRAIN_CHECK_MS = 10;
const LISTED_AT_ONCE = 256;

/** A loop on its thread: the program, the sockets lent to it, and the commands of the main thread. */
export class LoopRuntime implements ReadyHandler {
  readonly #data: LoopThreadData;
  readonly #signal: LoopSignal;
  readonly #net: NetEventLoop;
  readonly #log: Log;
  readonly #program: LoopProgram;
  readonly #profiler = new LoopProfiler();
  readonly #lent = new Map<number, { close(): void }>();
  readonly #peers = new Map<string, Peer>();

  constructor(data: LoopThreadData, createProgram: CreateLoopProgram) {
    this.#data = data;
    this.#signal = new LoopSignal(data.signalMemory);
    const { ledgerMemory, alwaysSleeps } = data;
    const counters = new LoopCounters(data.counterMemory);
    const onLook = (): void => counters.countLook();
    const posix = new PosixProvider({ ledgerMemory, alwaysSleeps, onLook });
    const provider = withTunnels(posix, data);
    this.#log = createLoopLog({
      nowMs: () => provider.clock.nowMs(),
      send: (level, fields, message) => this.#report({ kind: "log", level, fields, message }),
    });
    counters.setThread(ownThreadId() ?? 0);
    this.#net = new NetEventLoop({
      provider,
      maxFds: data.maxFds,
      counters,
      onError: (error) => this.#log.error({ err: error }, "a callback of the loop failed"),
    });
    this.#net.loop.add(new WatchedFd(posix, data.wakeDescriptor, WAKE_EVENTS), this);
    this.#program = createProgram({
      name: data.name,
      net: this.#net,
      log: this.#log,
      data: data.programData,
      report: (body) => this.#report({ kind: "program", body }),
      sendToPeer: (loop, body, transfer) =>
        this.#tellPeer(this.#peers.get(loop), { kind: "program", body }, transfer),
      handTo: (loop, fd, body) => this.#handTo(loop, fd, body),
    });
  }

  /** Blocks the thread until it shall stop. */
  run(): void {
    if (!this.#signal.begin()) return;
    this.#report({ kind: "ready" });
    // What was sent before the loop ran woke nobody.
    this.#net.loop.nextTick(() => this.onReady());
    this.#net.loop.run();
  }

  /** Woken by another thread. */
  onReady(): void {
    if (this.#signal.shallStop) {
      this.#program.close();
      this.#net.loop.close();
      return;
    }
    // Both ends of the port are of this program, and send only what LoopCommand names.
    forEachMessage(this.#data.commands, (command: LoopCommand) => this.#obey(command));
    this.#hearPeers();
  }

  onRemoved(): void {
    // The eventfd is the main thread's.
  }

  #report(report: LoopReport): void {
    this.#data.commands.postMessage(report);
  }

  /** One that fails does not keep the next ones from being done. */
  #obey(command: LoopCommand): void {
    try {
      this.#do(command);
    } catch (error) {
      this.#log.error({ err: error, command: command.kind }, "a command to the loop failed");
      if ("request" in command) {
        const reason = messageOf(error);
        this.#report({ kind: "refused", request: command.request, reason });
      }
    }
  }

  #do(command: LoopCommand): void {
    switch (command.kind) {
      case "program":
        this.#program.onMessage(command.body);
        return;
      case "lend":
        this.#lend(command);
        return;
      case "take-back":
        this.#lent.get(command.descriptor)?.close();
        this.#lent.delete(command.descriptor);
        this.#report({ kind: "done", request: command.request });
        return;
      case "peer":
        this.#peers.set(command.loop, {
          ...command,
          ledger: new DescriptorLedger(command.ledgerMemory),
        });
        return;
      case "peer-gone":
        this.#hearPeers();
        this.#peers.get(command.loop)?.port.close();
        this.#peers.delete(command.loop);
        this.#report({ kind: "done", request: command.request });
        return;
      case "drain":
        // What was handed over before has been accepted: it is served, too.
        this.#hearPeers();
        this.#program.drain();
        this.#whenDrained(command.request);
        return;
      case "channels":
        this.#listChannels(command.request, 0);
        return;
      case "dismiss":
        if (this.#net.loop.dismiss(command.id)) {
          this.#report({ kind: "done", request: command.request });
        } else {
          this.#report({
            kind: "refused",
            request: command.request,
            reason: `channel ${command.id.slot}/${command.id.generation} is not there any more`,
          });
        }
        return;
      case "profile":
        this.#profile(command.request, command.durationMs);
        return;
    }
  }

  /** So many at a time: connections are served in between. */
  #listChannels(request: number, from: number): void {
    const { loop } = this.#net;
    const { entries, next } = loop.channelPage(from, LISTED_AT_ONCE);
    this.#report({ kind: "channels", request, channels: entries, hasMore: next !== undefined });
    if (next !== undefined) loop.nextTick(() => this.#listChannels(request, next));
  }

  #lend({ listener, transport, descriptor }: Extract<LoopCommand, { kind: "lend" }>): void {
    const { adopt } = this.#net.provider;
    if (adopt === undefined) return;
    const lent =
      transport === "stream"
        ? this.#net.accept(adopt.server({ descriptor }), this.#program.listener(listener))
        : this.#program.datagrams?.(listener, adopt.datagram({ descriptor }));
    if (lent !== undefined) this.#lent.set(descriptor, lent);
  }

  #whenDrained(request: number): void {
    if (this.#program.openCount === 0) this.#report({ kind: "done", request });
    else this.#net.loop.delay(DRAIN_CHECK_MS, () => this.#whenDrained(request));
  }

  #profile(request: number, durationMs: number): void {
    if (this.#profiler.isRunning) {
      this.#report({ kind: "refused", request, reason: "a profile is being taken already" });
      return;
    }
    this.#profiler.start();
    this.#net.loop.delay(durationMs, () =>
      this.#report({ kind: "profile", request, profile: this.#profiler.stop() }),
    );
  }

  #hearPeers(): void {
    for (const [loop, { port }] of this.#peers) {
      forEachMessage(port, (message: PeerMessage) => this.#heard(loop, message));
    }
  }

  #heard(loop: string, message: PeerMessage): void {
    const { adopt } = this.#net.provider;
    if (message.kind === "program") this.#program.onPeerMessage?.(loop, message.body);
    else if (adopt !== undefined) {
      const fd = adopt.stream({ descriptor: message.descriptor });
      if (this.#program.onHandedOver === undefined) fd.reset();
      else this.#program.onHandedOver(fd, message.body);
    }
  }

  #handTo(loop: string, fd: StreamFd, body: unknown): boolean {
    const peer = this.#peers.get(loop);
    const handOff = peer && fd.handOff();
    if (handOff === undefined) return false;
    peer?.ledger.note(handOff.descriptor);
    return this.#tellPeer(peer, { kind: "stream", ...handOff, body });
  }

  #tellPeer(
    peer: Peer | undefined,
    message: PeerMessage,
    transfer: readonly Transferable[] = [],
  ): boolean {
    if (peer === undefined) return false;
    peer.port.postMessage(message, transfer);
    signalEventFd(peer.wakeDescriptor);
    return true;
  }
}

function withTunnels(
  posix: PosixProvider,
  { tunnels, tunnelMemory }: Pick<LoopThreadData, "tunnels" | "tunnelMemory">,
): Provider {
  if (tunnels === undefined) return posix;
  const createSealer = nativeSealer(loadAead());
  const counters = new TunnelCounters(tunnelMemory);
  return new MixedProvider(posix, { ...KCP_DEFAULTS, ...tunnels, createSealer, counters });
}

/** The caller knows what passes through the port. */
function forEachMessage<T>(port: MessagePort, callback: (message: T) => void): void {
  for (let got = receiveMessageOnPort(port); got !== undefined; got = receiveMessageOnPort(port)) {
    callback(got.message);
  }
}
