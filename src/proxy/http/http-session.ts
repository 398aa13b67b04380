import type { StreamFd } from "../../net/fd.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO } from "../../platform/errno.ts";
import { renderPlainResponse } from "../../wire/http1/plain-response.ts";
import type { ProxiedConnection } from "../../wire/proxy-protocol/proxy-header.ts";
import { HANDSHAKE_PATIENCE_MS, LEAVE_PATIENCE_MS, type Opening } from "../openings/opening.ts";
import type { DialTarget } from "../relay/dial-targets.ts";
import { Relay } from "../relay/relay.ts";
import { type EndOwner, RelayEnd } from "../relay/relay-end.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import { proxyGreeting } from "../services/proxy-greeting.ts";
import { isSecured } from "../tls/secured.ts";
import type { GreetedClient } from "./greeted-client.ts";
import { type ExchangeHandler, HttpExchange } from "./http-exchange.ts";
import type { HttpService } from "./http-service.ts";
import { type ForwardedRequest, RequestFlow } from "./request-flow.ts";
import { ResponseFlow } from "./response-flow.ts";
import { ServerPool } from "./server-pool.ts";

export interface HttpSessionParts {
  readonly service: HttpService;
  readonly fd: StreamFd;
  /** Canonical address of the client. */
  readonly peer: string;
  /** What the peer has to say about itself first. */
  readonly opening: Opening | undefined;
  /** Where it was let in before: then it is in the loop already, and counted. */
  readonly greeted?: Pick<GreetedClient, "end" | "proxied" | "bytes">;
}

const REQUEST_TIMEOUT = 408;
const NOT_ALLOWED_METHOD = 405;
/** How long what a client still sends is thrown away, so that it gets to read the last answer. */
const LINGER_MS = 2000;

/**
 * A connection of an HTTP/1 client. Its requests go to servers one by one; the next one is read when
 * the one before is answered.
 */
export class HttpSession implements EndOwner, OpenSession, ExchangeHandler {
  readonly #host: SessionHost;
  readonly #service: HttpService;
  readonly #client: RelayEnd;
  readonly #requests: RequestFlow;
  /** Made for the first exchange; there is one at a time. */
  #responses: ResponseFlow | undefined;
  readonly #isGreeted: boolean;
  readonly #timer = new Timer(() => this.#checkTime());
  #opening: Opening | undefined;
  #peer: string;
  #proxied: ProxiedConnection | undefined;
  /** Connections to servers that are told who calls. */
  #ownPool: ServerPool | undefined;
  #exchange: HttpExchange | undefined;
  #state: "open" | "lingering" | "closed" = "open";
  /** Whether the timer is armed for something else than idleness. */
  #isHurried = false;
  #lastMs: number;
  #seenBytes = 0;
  #countedIn = 0;
  #countedOut = 0;

  constructor(host: SessionHost, { service, fd, peer, opening, greeted }: HttpSessionParts) {
    this.#host = host;
    this.#service = service;
    this.#client = greeted?.end ?? new RelayEnd(fd, service.inBufferBytes, this);
    this.#client.owner = this;
    this.#isGreeted = greeted !== undefined;
    this.#requests = new RequestFlow(host.net, isSecured(fd) ? "https" : "http");
    this.#peer = peer;
    this.#proxied = greeted?.proxied;
    this.#opening = opening;
    this.#lastMs = host.net.loop.nowMs;
    if (greeted === undefined) service.row.opened();
    else this.#requests.input.reset(greeted.bytes);
    host.sessions.add(this);
  }

  start(): void {
    const { loop } = this.#host.net;
    if (this.#isGreeted) {
      this.#hurry();
      this.#readRequest();
      return;
    }
    this.#client.enter(loop);
    this.#isHurried = true;
    loop.arm(this.#timer, Math.min(this.#service.idleTimeoutMs, HANDSHAKE_PATIENCE_MS));
  }

  endReady(): void {
    this.#lastMs = this.#host.net.loop.nowMs;
    if (this.#state === "lingering") this.#discard();
    else if (this.#exchange !== undefined) this.#exchange.advance();
    else this.#readRequest();
  }

  endDismissed(): void {
    this.abort();
  }

  roleOf(): ChannelRole {
    return { listener: this.#service.key, session: this.#exchange?.sessionRole() ?? {} };
  }

  /** The next request of a client may be on its way: it is answered, with the word to leave. */
  drain(): void {
    const isWaiting = this.#exchange === undefined && this.#requests.input.isEmpty;
    if (isWaiting && this.#state === "open") {
      this.#isHurried = true;
      this.#host.net.loop.arm(this.#timer, LEAVE_PATIENCE_MS);
    }
  }

  abort(): void {
    this.#close(true);
  }

  exchangeDone(isClean: boolean): void {
    this.#exchange = undefined;
    this.#count();
    if (!isClean) {
      this.#linger();
      return;
    }
    // It was told that it may stay.
    if (this.#host.isDraining) this.drain();
    // Not at once: a client that sends many requests at a time must not keep the loop.
    if (!this.#requests.input.isEmpty || this.#client.hasEnded || this.#client.fd.readable) {
      this.#host.net.loop.nextTick(() => this.#goOn());
    }
  }

  exchangeFailed(status: number): void {
    this.#exchange = undefined;
    this.#service.row.failed();
    this.#answer(status);
  }

  exchangeBroken(): void {
    this.#exchange = undefined;
    this.abort();
  }

  exchangeTunnelled(server: RelayEnd, target: DialTarget): void {
    this.#exchange = undefined;
    this.#ownPool?.close();
    this.#count();
    this.#state = "closed";
    const { net, sessions } = this.#host;
    net.loop.disarm(this.#timer);
    sessions.delete(this);
    const client = this.#client;
    const service = this.#service;
    const { row } = service;
    const counted = { countedIn: client.received, countedOut: server.received };
    new Relay(this.#host, { client, server, target, row, service, ...counted }).start();
  }

  #goOn(): void {
    if (this.#state === "open" && this.#exchange === undefined) this.#readRequest();
  }

  /** What came already may be a whole request; otherwise more is read. */
  #readRequest(): void {
    if (!this.#requests.input.isEmpty && this.#opening === undefined) this.#tryRequest();
    while (this.#state === "open" && this.#exchange === undefined && this.#client.fd.readable) {
      const count = this.#requests.input.read(this.#client);
      if (count === -ERRNO.EAGAIN) break;
      if (count < 0) {
        this.abort();
        return;
      }
      if (count === 0) break;
      this.#tryRequest();
    }
    if (this.#exchange !== undefined || this.#state !== "open") return;
    if (this.#client.hasEnded) this.#close(false);
    else if (!this.#requests.input.isEmpty && !this.#isHurried) this.#hurry();
  }

  #tryRequest(): void {
    if (this.#opening !== undefined && !this.#readOpening(this.#opening)) return;
    const step = this.#requests.readHead(this.#peer, this.#service);
    if (step.kind === "malformed") {
      this.#service.row.failed();
      this.#host.log.debug(
        { listener: this.#service.key, reason: step.reason },
        "a request was refused",
      );
      this.#answer(step.status);
    } else if (step.kind === "request") {
      this.#begin(step.request);
    }
  }

  /** Whether it is over and requests may follow. */
  #readOpening(opening: Opening): boolean {
    const step = opening.feed(this.#requests.input.bytes);
    this.#requests.input.reset();
    if (step.kind === "refused") this.abort();
    if (step.kind !== "done") return false;
    this.#opening = undefined;
    this.#proxied = step.introduction.proxied;
    this.#peer = this.#proxied?.source.ip ?? this.#peer;
    this.#requests.input.reset(step.rest);
    return true;
  }

  #begin(request: ForwardedRequest): void {
    if (!this.#service.allows(request.client)) {
      this.#service.row.failed();
      this.abort();
      return;
    }
    if (request.context.method === "CONNECT") {
      this.#answer(NOT_ALLOWED_METHOD);
      return;
    }
    const { net, isDraining } = this.#host;
    this.#calmDown();
    const { client, host, path } = request;
    this.#responses ??= new ResponseFlow(net);
    this.#exchange = new HttpExchange({
      net,
      request,
      service: this.#service,
      pool: this.#pool,
      greeting: proxyGreeting(this.#service.greets, this.#client.fd, this.#proxied),
      client: this.#client,
      requests: this.#requests,
      responses: this.#responses,
      targets: this.#service.targetsFor(client, { host, path }),
      keepAlive: request.keepsAlive && !isDraining && !this.#service.isLeft,
      receivedBefore: this.#countedIn,
      sentBefore: this.#countedOut,
      handler: this,
    });
    this.#exchange.start();
  }

  /** A connection whose server was told who calls is for nobody else. */
  get #pool(): ServerPool {
    const { pool, greets } = this.#service;
    if (greets === "none") return pool;
    this.#ownPool ??= new ServerPool(this.#host.net.loop, () => this.#service.key);
    return this.#ownPool;
  }

  /** A head that was begun must be complete soon; the first one from when the client came. */
  #hurry(): void {
    this.#isHurried = true;
    this.#host.net.loop.arm(this.#timer, HANDSHAKE_PATIENCE_MS);
  }

  /** The timer finds out by itself how much idleness is over, where it fires in time for that. */
  #calmDown(): void {
    const isInTime = !this.#isHurried || this.#service.idleTimeoutMs >= HANDSHAKE_PATIENCE_MS;
    this.#isHurried = false;
    if (isInTime && this.#timer.isArmed) return;
    this.#host.net.loop.arm(this.#timer, this.#service.idleTimeoutMs);
  }

  /** Says it itself, and closes. */
  #answer(status: number): void {
    const { scratch } = this.#host.net;
    const bytes = renderPlainResponse(status);
    scratch.bytes.set(bytes);
    const count = this.#client.fd.write(scratch, 0, bytes.length);
    this.#client.sent += Math.max(0, count);
    this.#linger();
  }

  /** Closes; but where the client still sends, only when it has had the time to read the answer. */
  #linger(): void {
    const { body, input } = this.#requests;
    if (body.isDone && input.isEmpty && !this.#client.fd.readable) {
      this.#close(false);
      return;
    }
    this.#state = "lingering";
    this.#client.fd.shutdownWrite();
    this.#host.net.loop.arm(this.#timer, LINGER_MS);
    this.#discard();
  }

  #discard(): void {
    const { scratch } = this.#host.net;
    const { fd } = this.#client;
    while (fd.readable) {
      const count = fd.read(scratch, 0, scratch.bytes.length);
      if (count === -ERRNO.EAGAIN) return;
      if (count <= 0) {
        this.#close(false);
        return;
      }
    }
  }

  #checkTime(): void {
    const { loop } = this.#host.net;
    this.#noteTraffic();
    const leftMs = this.#lastMs + this.#service.idleTimeoutMs - loop.nowMs;
    const hasNothing = this.#exchange === undefined && this.#requests.input.isEmpty;
    const isLeaving = (this.#isHurried || this.#host.isDraining) && hasNothing;
    if (this.#state === "lingering") this.#close(false);
    else if (this.#opening !== undefined) this.abort();
    else if (isLeaving) this.#close(false);
    else if (this.#exchange === undefined && !this.#requests.input.isEmpty)
      this.#answer(REQUEST_TIMEOUT);
    else if (leftMs > 0) loop.arm(this.#timer, leftMs);
    else if (this.#exchange !== undefined) this.#exchange.timeOut();
    else this.#close(false);
  }

  /** What the server sends is activity too, and the client's FD does not tell about it. */
  #noteTraffic(): void {
    const { received, sent } = this.#client;
    if (received + sent !== this.#seenBytes) this.#lastMs = this.#host.net.loop.nowMs;
    this.#seenBytes = received + sent;
  }

  #count(): void {
    const { received, sent } = this.#client;
    this.#service.row.moved(received - this.#countedIn, sent - this.#countedOut);
    this.#countedIn = received;
    this.#countedOut = sent;
  }

  #close(withReset: boolean): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { net, sessions } = this.#host;
    this.#exchange?.abort();
    this.#ownPool?.close();
    this.#count();
    net.loop.disarm(this.#timer);
    this.#client.leave(net.loop, withReset);
    sessions.delete(this);
    this.#service.row.closed();
  }
}
