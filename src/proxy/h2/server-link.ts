import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO } from "../../platform/errno.ts";
import { CLIENT_CONFIG } from "../../wire/http2/http2-config.ts";
import { Dial, type DialHandler } from "../relay/dial.ts";
import { type DialTarget, ListTargets } from "../relay/dial-targets.ts";
import type { RelayEnd } from "../relay/relay-end.ts";
import { FrameWire, type WireHandler } from "./frame-wire.ts";
import { H2Leg, type LegLink, type LegRequest } from "./h2-leg.ts";
import type { H2Memory } from "./h2-memory.ts";
import type { LegOwner, ServerLeg } from "./server-leg.ts";
import { UncountedTarget } from "./uncounted-target.ts";

/** Wants a way to a server; told once, unless it is taken back before. */
export interface LinkWaiter {
  /** There is room for a stream on it. */
  reached(link: ServerLink): void;
  /** The server does not speak HTTP/2: it is asked in HTTP/1.1. */
  reachedHttp1(): void;
  /** With a negative errno. */
  unreachable(result: number): void;
}

/** How a link came to its end, for whoever waits for it. */
export type LinkEnd =
  | { readonly kind: "unreachable"; readonly result: number }
  /** The server has said something else first, or has closed without a word. */
  | { readonly kind: "not-http2"; readonly hasSpoken: boolean }
  | { readonly kind: "closed" };

export interface LinkHandler {
  /** What a server is told first on a new connection. */
  readonly greeting: Buffer;
  /** Key of the listener that it is for. */
  readonly listener: string;
  /** It can be used, or has room again. */
  linkReady(link: ServerLink): void;
  linkEnded(link: ServerLink, end: LinkEnd): void;
}

export interface LinkSettings {
  readonly connectTimeoutMs: number;
  readonly bufferBytes: number;
}

export interface LinkParts {
  readonly target: DialTarget;
  readonly memory: H2Memory;
  readonly settings: LinkSettings;
  readonly handler: LinkHandler;
}

/** How long a connection without streams is kept. */
const IDLE_MS = 30_000;
const NO_BYTES = Buffer.alloc(0);

/** A connection to a server that speaks HTTP/2, shared by the requests of many clients. */
export class ServerLink implements DialHandler, WireHandler, LegLink {
  readonly target: DialTarget;
  readonly waiters: Set<LinkWaiter> = new Set();
  readonly #net: NetEventLoop;
  readonly #parts: LinkParts;
  readonly #timer = new Timer(() => this.#timedOut());
  readonly #dial: Dial;
  #wire: FrameWire | undefined;
  #end: RelayEnd | undefined;
  #state: "dialing" | "greeting" | "ready" | "doubted" | "leaving" | "closed" = "dialing";

  constructor(net: NetEventLoop, parts: LinkParts) {
    this.#net = net;
    this.#parts = parts;
    this.target = parts.target;
    this.#dial = new Dial(net, new ListTargets([new UncountedTarget(parts.target)]), {
      ...parts.settings,
      handler: this,
    });
  }

  start(): void {
    this.#dial.start();
  }

  get isClosed(): boolean {
    return this.#state === "closed" || this.#wire?.connection.isClosed === true;
  }

  get settings(): LinkSettings {
    return this.#parts.settings;
  }

  /** Whether it is not known yet what will become of it. */
  get isOpening(): boolean {
    return this.#state === "dialing" || this.#state === "greeting";
  }

  /** Whether a stream can be opened now. */
  get hasRoom(): boolean {
    return this.#state === "ready" && (this.#wire?.connection.capacity ?? 0) > 0;
  }

  /** Opens a stream; there must be room. */
  open(owner: LegOwner, request: LegRequest): ServerLeg {
    const { memory } = this.#parts;
    const leg = new H2Leg(owner, request.head.method, { writer: memory.block, link: this });
    const stream = this.#wire?.connection.open(leg);
    this.#net.loop.disarm(this.#timer);
    if (stream !== undefined) leg.start(stream, request);
    return leg;
  }

  /** A server has not answered in time: nothing more goes there until it shows that it is alive. */
  doubt(): void {
    if (this.#state !== "ready") return;
    this.#state = "doubted";
    this.#wire?.connection.ping();
    this.#net.loop.arm(this.#timer, this.#parts.settings.connectTimeoutMs);
  }

  /** No more streams; closes when those that are open have ended. */
  leave(): void {
    if (this.isClosed) return;
    if (this.isOpening) {
      this.#close({ kind: "closed" });
      return;
    }
    this.#state = "leaving";
    this.#closeWhenUnused();
  }

  dialed(end: RelayEnd): void {
    const { memory, settings, handler } = this.#parts;
    this.#state = "greeting";
    this.#end = end;
    this.#wire = new FrameWire(this.#net, {
      role: "client",
      config: CLIENT_CONFIG,
      end,
      memory,
      handler: this,
      greeting: handler.greeting,
    });
    this.#net.loop.arm(this.#timer, settings.connectTimeoutMs);
    this.#wire.start(NO_BYTES);
  }

  dialFailed(result: number): void {
    this.#close({ kind: "unreachable", result });
  }

  // Servers open no streams.
  streamOpened(): void {}

  streamClosed(): void {
    if (this.isClosed) return;
    const isUnused = this.#wire?.connection.streamCount === 0;
    if (isUnused && this.#state === "ready") this.#net.loop.arm(this.#timer, IDLE_MS);
    this.#closeWhenUnused();
    if (this.hasRoom) this.#parts.handler.linkReady(this);
  }

  settingsArrived(): void {
    if (this.#state === "greeting") this.#becomeReady();
    else if (this.hasRoom) this.#parts.handler.linkReady(this);
  }

  goAwayArrived(): void {
    this.leave();
  }

  pingAnswered(): void {
    if (this.#state === "doubted") this.#becomeReady();
  }

  wireMoved(): void {}

  get listener(): string {
    return this.#parts.handler.listener;
  }

  wireRole(): ChannelRole {
    return { listener: this.listener, server: this.target.key };
  }

  wireClosed(): void {
    this.#close(
      this.#state === "greeting"
        ? { kind: "not-http2", hasSpoken: (this.#end?.received ?? 0) > 0 }
        : { kind: "closed" },
    );
  }

  #becomeReady(): void {
    this.#state = "ready";
    this.#net.loop.arm(this.#timer, IDLE_MS);
    if (this.#wire?.connection.streamCount !== 0) this.#net.loop.disarm(this.#timer);
    this.#parts.handler.linkReady(this);
  }

  #timedOut(): void {
    if (this.#state === "ready") this.leave();
    else this.#close({ kind: "unreachable", result: -ERRNO.ETIMEDOUT });
  }

  #closeWhenUnused(): void {
    if (this.#state !== "leaving" || this.#wire?.connection.streamCount !== 0) return;
    this.#state = "closed";
    this.#net.loop.disarm(this.#timer);
    this.#wire.finish();
    this.#parts.handler.linkEnded(this, { kind: "closed" });
  }

  #close(end: LinkEnd): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    this.#net.loop.disarm(this.#timer);
    this.#dial.cancel();
    this.#wire?.close(true);
    this.#parts.handler.linkEnded(this, end);
  }
}
