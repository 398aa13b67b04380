import { CoreError } from "../../core/errors.ts";
import { deepEqual } from "../../core/model/equal.ts";
import { DiffStore } from "../../core/store/diff-store.ts";
import { LoopThread, type LoopThreadHost } from "../../net/threads/loop-thread.ts";
import { Requests } from "../../net/threads/requests.ts";
import { workerUrl } from "../../net/threads/worker-url.ts";
import { close } from "../../platform/linux/io-calls.ts";
import { openTun, parseTunAddress } from "../../platform/linux/tun-device.ts";
import type { IpSocketAddress } from "../../platform/socket-address.ts";
import { type EdgeService, ServiceTable } from "../table/service-table.ts";
import { checkPeers, mappedPeer, type OwnEnd } from "./check-peers.ts";
import type { FlowNews } from "./flow-keeper.ts";
import type { KeptFlow } from "./kept-flow.ts";
import { openTunnelSocket } from "./open-tunnel-socket.ts";
import type { PeerSpec } from "./peer.ts";
import { REKEY_AFTER_MS } from "./session.ts";
import { parseKeyPair } from "./tunnel-keys.ts";
import {
  isTunnelReport,
  type KernelPathUse,
  type TunnelCommand,
  type TunnelData,
  type TunnelFlow,
  type TunnelReport,
  type TunnelStats,
} from "./tunnel-messages.ts";

export interface TunnelOptions {
  /** Name of this node, as instances name it. */
  readonly node: string;
  /** Name of the link. */
  readonly tunName: string;
  /** Of the link, with what it reaches directly: `10.19.1.254/12`. */
  readonly addresses: readonly string[];
  readonly mtu?: number;
  /** Where peers send to. `[::]` takes IPv4 as well. */
  readonly listen: IpSocketAddress;
  /** Base64; needed for peers with keys. */
  readonly privateKey?: string;
  /** The networks of the workloads here. */
  readonly subnets: readonly string[];
  /** Where the addresses of services are, also of those that are not known yet. */
  readonly serviceRanges: readonly string[];
  /**
   * An address of each family that reaches the TUN and is nobody's: by it local servers see local clients
   * that have no address of their own in the range of services.
   */
  readonly hairpin?: readonly string[];
  readonly maxFlows?: number;
  /** Connections of an earlier process, which go on as soon as their instances are known. */
  readonly keptFlows?: readonly KeptFlow[];
  /** Connections that the next process has to know, as they come and go. */
  readonly onFlows?: (news: FlowNews) => void;
  readonly probeIntervalMs?: number;
  /** New keys are agreed on so often: from 1 s to the two minutes of WireGuard, which it is where nothing is said. */
  readonly rekeyAfterMs?: number;
  /** False spares the processor that at its start; its first thousands of packets take longer then. */
  readonly rehearses?: boolean;
  /**
   * For so long after a packet the processors of this machine do not sleep, so that the next one is sooner on its
   * way; it costs power. Never where nothing is said.
   */
  readonly awakeMs?: number;
  /** Short packets pass in the kernel where it can do that (`auto`), as it does where nothing is said, or never. */
  readonly kernelPath?: KernelPathUse;
  /** Asked for an address of a service that is not known; `apply` brings it, false says that nobody has it. */
  readonly lookUp?: (address: string) => Promise<boolean>;
  /** Whether `lookUp` is asked also for services that somebody sends from who is not known. */
  readonly looksUpSenders?: boolean;
  /** A peer is at another `HOST:PORT`, and has proved it. */
  readonly onMoved?: (node: string, endpoint: string) => void;
  /** Somebody removed the link: nothing passes any more, and the tunnel is to be closed. */
  readonly onLost?: (reason: string) => void;
}

/** What a tunnel shall know. */
export interface TunnelState {
  readonly services: readonly EdgeService[];
  readonly peers: readonly PeerSpec[];
}

const DEFAULT_TUNNEL_MTU = 1400;
const DEFAULT_MAX_FLOWS = 262_144;
const DEFAULT_PROBE_MS = 5000;
const MIN_REKEY_MS = 1000;
const MIN_MTU = 1280;
const MAX_MTU = 65_000;

/**
 * ProxyTUN: the packets of workloads to services, and between nodes. Nothing of it is left when it is
 * closed, or when the process ends.
 */
export class Tunnel {
  readonly #thread: LoopThread;
  readonly #descriptors: readonly number[];
  readonly #requests: Requests<TunnelReport>;
  readonly #own: OwnEnd;
  readonly #services = new DiffStore<string, string, EdgeService>(deepEqual);
  readonly #peers = new DiffStore<string, string, PeerSpec>(deepEqual);
  #closed: Promise<void> | undefined;
  /** For names: the same as the thread has. */
  readonly table: ServiceTable = new ServiceTable();

  /**
   * Opens the TUN and the socket in the network namespace of this thread, and starts the tunnel. Needs root.
   * @throws CoreError ERR_CONFIG_INVALID, ERR_NOT_POSSIBLE_HERE, ERR_LISTEN, ERR_SYSTEM_CALL
   */
  static async open(host: LoopThreadHost, options: TunnelOptions): Promise<Tunnel> {
    const mtu = options.mtu ?? DEFAULT_TUNNEL_MTU;
    const rekeyAfterMs = options.rekeyAfterMs ?? REKEY_AFTER_MS;
    checkNumbers(mtu, rekeyAfterMs);
    if (options.privateKey !== undefined) parseKeyPair(options.privateKey);
    const addresses = options.addresses.map(parseTunAddress);
    const udp = openTunnelSocket(options.listen);
    let tun = -1;
    try {
      tun = openTun({ name: options.tunName, mtu, addresses });
      const requests = new Requests<TunnelReport>();
      const data = dataOf(options, { tun, udp, mtu, rekeyAfterMs });
      const reports = { handle: (_report: TunnelReport): void => undefined };
      const thread = await LoopThread.start(host, {
        name: `tunnel ${options.tunName}`,
        program: workerUrl("./tunnel-loop", import.meta.url),
        programData: data,
        maxFds: 16,
        onReport: (body) => {
          if (isTunnelReport(body)) reports.handle(body);
        },
      });
      const tunnel = new Tunnel(thread, [tun, udp], requests, data);
      reports.handle = (report) => tunnel.#received(report, options);
      return tunnel;
    } catch (error) {
      for (const descriptor of [tun, udp]) if (descriptor >= 0) close(descriptor);
      throw error;
    }
  }

  private constructor(
    thread: LoopThread,
    descriptors: readonly number[],
    requests: Requests<TunnelReport>,
    data: TunnelData,
  ) {
    this.#thread = thread;
    this.#descriptors = descriptors;
    this.#requests = requests;
    const { isV6Socket, subnets, privateKey } = data;
    this.#own = { isV6Socket, subnets, hasKey: privateKey !== undefined };
    void thread.ended.then(() => requests.failAll(hasEnded()));
  }

  /**
   * Says all that there is from now on; only what changed is sent to the tunnel. What is wrong is refused, and
   * what was there goes on.
   * @throws CoreError ERR_CONFIG_INVALID, ERR_ADDRESS_TAKEN
   */
  apply({ services, peers }: TunnelState): void {
    checkPeers(peers, this.#own);
    const trial = new ServiceTable();
    for (const service of services) trial.set(service);
    this.#services.replace(
      "",
      services.map((service) => [service.key, service]),
    );
    this.#peers.replace(
      "",
      peers.map((peer) => [peer.node, mappedPeer(peer, this.#own.isV6Socket)]),
    );
    const [changed, moved] = [this.#services.diff(), this.#peers.diff()];
    this.#services.commit();
    this.#peers.commit();
    const set = [...changed.created, ...changed.updated].map(([, service]) => service);
    for (const key of changed.deleted) this.table.delete(key);
    this.table.setAll(set);
    this.#thread.send({
      kind: "apply",
      deletedServices: changed.deleted,
      services: set,
      deletedPeers: moved.deleted,
      peers: [...moved.created, ...moved.updated].map(([, peer]) => peer),
    });
  }

  async stats(): Promise<TunnelStats> {
    const report = await this.#ask((request) => ({ kind: "stats", request }));
    if (report.kind !== "stats") throw hasEnded();
    return report.stats;
  }

  /** The flows that were used longest ago, at most so many of them. */
  async flows(limit: number): Promise<readonly TunnelFlow[]> {
    const report = await this.#ask((request) => ({ kind: "flows", request, limit }));
    if (report.kind !== "flows") throw hasEnded();
    return report.flows;
  }

  #ask(commandOf: (request: number) => TunnelCommand): Promise<TunnelReport> {
    if (!this.#thread.isRunning) return Promise.reject(hasEnded());
    const { request, answer } = this.#requests.add();
    this.#thread.send(commandOf(request));
    return answer;
  }

  /** Settles when the thread is gone; `error` says why where nobody closed it. */
  get ended(): LoopThread["ended"] {
    return this.#thread.ended;
  }

  /** Once for all that call: the numbers of its descriptors may be of others from then on. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  async #close(): Promise<void> {
    await this.#thread.stop();
    for (const descriptor of this.#descriptors) close(descriptor);
  }

  #received(report: TunnelReport, options: TunnelOptions): void {
    switch (report.kind) {
      case "stats":
      case "flows":
        this.#requests.answer(report.request, report);
        return;
      case "keep":
        options.onFlows?.(report.news);
        return;
      case "moved":
        options.onMoved?.(report.node, report.endpoint);
        return;
      case "lost":
        options.onLost?.(report.reason);
        return;
      case "lookup":
        void this.#lookUp(report.address, options);
        return;
    }
  }

  async #lookUp(address: string, { lookUp }: TunnelOptions): Promise<void> {
    const isFound = await Promise.resolve(lookUp?.(address) ?? false).catch(() => false);
    if (!isFound) this.#thread.send({ kind: "missed", address });
  }
}

function hasEnded(): CoreError {
  return new CoreError("ERR_LOOP_ENDED", "the tunnel has ended");
}

/** What its thread is told. */
function dataOf(
  options: TunnelOptions,
  opened: Pick<TunnelData, "tun" | "udp" | "mtu" | "rekeyAfterMs">,
): TunnelData {
  return {
    kind: "tunnel",
    ...opened,
    node: options.node,
    isV6Socket: options.listen.family === "v6",
    subnets: options.subnets,
    serviceRanges: options.serviceRanges,
    hairpin: options.hairpin ?? [],
    looksUpSenders: options.looksUpSenders ?? false,
    maxFlows: options.maxFlows ?? DEFAULT_MAX_FLOWS,
    probeIntervalMs: options.probeIntervalMs ?? DEFAULT_PROBE_MS,
    rehearses: options.rehearses ?? true,
    awakeMs: options.awakeMs ?? 0,
    kernelPath: options.kernelPath ?? "auto",
    privateKey: options.privateKey,
    keptFlows: options.keptFlows ?? [],
  };
}

function checkNumbers(mtu: number, rekeyAfterMs: number): void {
  if (!Number.isInteger(mtu) || mtu < MIN_MTU || mtu > MAX_MTU) {
    throw new CoreError("ERR_CONFIG_INVALID", `MTU: ${mtu} is not from ${MIN_MTU} to ${MAX_MTU}`);
  }
  if (!(rekeyAfterMs >= MIN_REKEY_MS && rekeyAfterMs <= REKEY_AFTER_MS)) {
    throw new CoreError(
      "ERR_CONFIG_INVALID",
      `rekeyAfterMs: ${rekeyAfterMs} is not from ${MIN_REKEY_MS} to ${REKEY_AFTER_MS}`,
    );
  }
}
