import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelRole, SessionRole } from "../../net/selector-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import { Dial, type DialHandler } from "../relay/dial.ts";
import type { DialTarget, DialTargets } from "../relay/dial-targets.ts";
import { flushRest } from "../relay/move-bytes.ts";
import { pushBytes } from "../relay/push-bytes.ts";
import type { EndOwner, RelayEnd } from "../relay/relay-end.ts";
import type { HttpService } from "./http-service.ts";
import type { ForwardedRequest, RequestFlow } from "./request-flow.ts";
import type { ForwardedResponse, ResponseFlow } from "./response-flow.ts";
import type { ServerPool } from "./server-pool.ts";

/** Is told how an exchange ends; once, and not after `abort`. */
export interface ExchangeHandler {
  /** All of the response has passed. `isClean`: the client may send another request. */
  exchangeDone(isClean: boolean): void;
  /** Nothing of a response has passed: the client is to be told with a status. */
  exchangeFailed(status: number): void;
  /** A part of the response has passed already, or a part of the request can not be had. */
  exchangeBroken(): void;
  /** The ends speak something else from now on; what waits for them is in their rests. */
  exchangeTunnelled(server: RelayEnd, target: DialTarget): void;
}

export interface ExchangeParts {
  readonly net: NetEventLoop;
  readonly service: HttpService;
  /** Connections to servers that wait for the next request. */
  readonly pool: ServerPool;
  /** What a server is told first on a new connection. */
  readonly greeting: Buffer;
  readonly client: RelayEnd;
  readonly requests: RequestFlow;
  readonly request: ForwardedRequest;
  /** For what servers say to it. */
  readonly responses: ResponseFlow;
  readonly targets: DialTargets;
  /** Whether the client may send another request. */
  readonly keepAlive: boolean;
  /** How much came from the client, and went to it, before this request. */
  readonly receivedBefore: number;
  readonly sentBefore: number;
  readonly handler: ExchangeHandler;
}

const BAD_GATEWAY = 502;
const UNAVAILABLE = 503;
const GATEWAY_TIMEOUT = 504;
/** So many steps at a time: then the other FDs of the loop have their turn. */
const MAX_TURNS = 16;

type Step = "go-on" | "wait" | "over";

/** One request and its response, between a client and a server that is chosen for it. */
export class HttpExchange implements EndOwner, DialHandler {
  readonly #parts: ExchangeParts;
  readonly #beganMs: number;
  #dial: Dial | undefined;
  #server: RelayEnd | undefined;
  #target: DialTarget | undefined;
  /** From the pool: the server may have closed it in the meantime. */
  #isReused = false;
  #response: ForwardedResponse | undefined;
  #hasAnswered = false;
  #isOver = false;

  constructor(parts: ExchangeParts) {
    this.#parts = parts;
    parts.responses.begin();
    this.#beganMs = parts.net.loop.nowMs;
  }

  /** Whether the client waits for a response that has not begun. */
  get isUnanswered(): boolean {
    return !this.#hasAnswered;
  }

  start(): void {
    const target = this.#parts.targets.next();
    if (target === undefined) {
      this.#end(() => this.#parts.handler.exchangeFailed(UNAVAILABLE));
      return;
    }
    const pooled = this.#parts.pool.take(target);
    if (pooled === undefined) {
      this.#connect(target);
      return;
    }
    target.opened();
    this.#isReused = true;
    this.#attach(pooled, target, NONE);
  }

  /** Something may be possible that was not before. */
  advance(): void {
    for (let turn = 0; turn < MAX_TURNS && !this.#isOver; turn += 1) {
      const asked = this.#stepRequest();
      const answered = this.#isOver ? "over" : this.#stepResponse();
      if (asked !== "go-on" && answered !== "go-on") return;
    }
    if (!this.#isOver) this.#parts.net.loop.nextTick(() => this.advance());
  }

  abort(): void {
    this.#end(() => undefined);
  }

  /** The client has waited for too long. */
  timeOut(): void {
    const { handler } = this.#parts;
    const isUnanswered = !this.#hasAnswered;
    this.#end(() => {
      if (isUnanswered) handler.exchangeFailed(GATEWAY_TIMEOUT);
      else handler.exchangeBroken();
    });
  }

  endReady(): void {
    this.advance();
  }

  endDismissed(): void {
    this.#serverFailed();
  }

  get listener(): string {
    return this.#parts.service.key;
  }

  roleOf(): ChannelRole {
    return { listener: this.listener, server: this.#target?.key ?? "" };
  }

  /** The server that the client has at this moment. */
  sessionRole(): SessionRole {
    const [server, target] = [this.#server, this.#target];
    if (server === undefined || target === undefined) return {};
    return { server: target.key, toServer: server.endsTo(target.address) };
  }

  dialed(server: RelayEnd, target: DialTarget): void {
    this.#dial = undefined;
    this.#attach(server, target, this.#parts.greeting);
  }

  dialFailed(result: number): void {
    this.#dial = undefined;
    const status = result === -ERRNO.ETIMEDOUT ? GATEWAY_TIMEOUT : BAD_GATEWAY;
    this.#end(() => this.#parts.handler.exchangeFailed(status));
  }

  #connect(first: DialTarget): void {
    const { net, service, targets } = this.#parts;
    let isFirst = true;
    const next = (): DialTarget | undefined => {
      if (!isFirst) return targets.next();
      isFirst = false;
      return first;
    };
    this.#dial = new Dial(
      net,
      { next, noneResult: targets.noneResult },
      {
        connectTimeoutMs: service.connectTimeoutMs,
        bufferBytes: service.outBufferBytes,
        handler: this,
      },
    );
    this.#dial.start();
  }

  #attach(server: RelayEnd, target: DialTarget, greeting: Buffer): void {
    server.owner = this;
    this.#server = server;
    this.#target = target;
    const { client, request, requests, net } = this.#parts;
    const body = requests.takeBody();
    if (!Buffer.isBuffer(body)) {
      this.#end(() => this.#parts.handler.exchangeFailed(body.status));
      return;
    }
    const result = pushBytes(client, server, [greeting, request.head, body], net);
    if (result < 0) this.#serverFailed();
    else this.advance();
  }

  #stepRequest(): Step {
    const { client, requests, net } = this.#parts;
    const server = this.#server;
    if (server === undefined) return "wait";
    const flushed = flushRest(client, server);
    if (flushed < 0) return this.#wroteToServer(flushed);
    if (requests.body.isDone) return "wait";
    if (requests.input.isEmpty) {
      const read = this.#readBody();
      if (read !== "go-on") return read;
    }
    const body = requests.takeBody();
    if (!Buffer.isBuffer(body)) return this.#broken();
    const pushed = pushBytes(client, server, [body], net);
    return pushed < 0 ? this.#wroteToServer(pushed) : "go-on";
  }

  #readBody(): Step {
    const { client, requests } = this.#parts;
    if (client.hasEnded) return this.#broken();
    if (!client.fd.readable) return "wait";
    const count = requests.input.read(client);
    if (count > 0) return "go-on";
    return count === -ERRNO.EAGAIN ? "wait" : this.#broken();
  }

  /** A server may answer, and close, before it has heard all: then its answer counts. */
  #wroteToServer(result: number): Step {
    if (result === -ERRNO.EAGAIN) return "wait";
    if (this.#server?.fd.readable === true && !this.#isReused) {
      this.#parts.client.rest = undefined;
      return "wait";
    }
    return this.#serverFailed();
  }

  #stepResponse(): Step {
    const { client } = this.#parts;
    const server = this.#server;
    if (server === undefined) return "wait";
    const flushed = flushRest(server, client);
    if (flushed < 0) return flushed === -ERRNO.EAGAIN ? "wait" : this.#broken();
    if (this.#isComplete(server)) return this.#finish(server);
    if (this.#parts.responses.input.isEmpty && !server.hasEnded) {
      const read = this.#readResponse(server);
      if (read !== "go-on") return read;
    }
    return this.#response === undefined ? this.#stepHead(server) : this.#stepBody(server, NONE);
  }

  #readResponse(server: RelayEnd): Step {
    if (!server.fd.readable) return "wait";
    const count = this.#parts.responses.input.read(server);
    if (count >= 0) return "go-on";
    return count === -ERRNO.EAGAIN ? "wait" : this.#serverFailed();
  }

  #stepHead(server: RelayEnd): Step {
    const { request, keepAlive, net, client } = this.#parts;
    const { minorVersion } = request;
    const step = this.#parts.responses.readHead(request.context, { keepAlive, minorVersion });
    if (step.kind === "malformed") return this.#serverFailed();
    if (step.kind === "more") {
      if (server.hasEnded) return this.#serverFailed();
      return this.#readResponse(server);
    }
    const { response } = step;
    this.#noteAnswer();
    if (response.isInterim) return this.#pushed(pushBytes(server, client, [response.head], net));
    this.#response = response;
    if (response.isTunnel) return this.#tunnel(server, response);
    return this.#stepBody(server, response.head);
  }

  #stepBody(server: RelayEnd, before: Buffer): Step {
    const { client, net } = this.#parts;
    const body = this.#parts.responses.takeBody();
    if (!Buffer.isBuffer(body)) return this.#broken();
    if (body.length === 0 && before.length === 0 && server.hasEnded) return this.#broken();
    return this.#pushed(pushBytes(server, client, [before, body], net));
  }

  #pushed(result: number): Step {
    return result < 0 ? this.#broken() : "go-on";
  }

  #isComplete(server: RelayEnd): boolean {
    if (this.#response === undefined) return false;
    const { body } = this.#parts.responses;
    return (
      body.isDone || (server.hasEnded && this.#parts.responses.input.isEmpty && body.mayEndHere)
    );
  }

  #finish(server: RelayEnd): Step {
    const { requests, keepAlive, pool, handler, client } = this.#parts;
    const response = this.#response;
    const isRequestDone = requests.body.isDone && client.rest === undefined;
    const isReusable =
      response?.keepsAlive === true &&
      isRequestDone &&
      !server.hasEnded &&
      this.#parts.responses.input.isEmpty;
    const target = this.#target;
    if (isReusable && target !== undefined) {
      this.#server = undefined;
      pool.put(target, server);
    }
    const isClean = keepAlive && isRequestDone && response?.endsWithConnection === false;
    this.#end(() => handler.exchangeDone(isClean));
    return "over";
  }

  #tunnel(server: RelayEnd, response: ForwardedResponse): Step {
    const { net, handler, requests, client } = this.#parts;
    const target = this.#target;
    if (target === undefined) return this.#broken();
    const toClient = Buffer.concat([response.head, this.#parts.responses.input.bytes]);
    const toServer = requests.input.bytes;
    server.putFirst(toClient, net.provider.allocate(toClient.length));
    if (toServer.length > 0) client.putFirst(toServer, net.provider.allocate(toServer.length));
    this.#isOver = true;
    this.#count();
    handler.exchangeTunnelled(server, target);
    return "over";
  }

  #noteAnswer(): void {
    if (this.#hasAnswered) return;
    this.#hasAnswered = true;
    this.#target?.tookMs(this.#parts.net.loop.nowMs - this.#beganMs);
  }

  #broken(): Step {
    this.#end(() => this.#parts.handler.exchangeBroken());
    return "over";
  }

  /** A connection that was idle is tried once more on a new one, where nothing is lost by that. */
  #serverFailed(): Step {
    const target = this.#target;
    if (this.#isReused && this.#canRepeat() && target !== undefined) {
      this.#isReused = false;
      this.#parts.client.rest = undefined;
      this.#parts.responses.input.reset();
      this.#release();
      this.#connect(target);
      return this.#isOver ? "over" : "wait";
    }
    if (this.#hasAnswered) return this.#broken();
    this.#end(() => this.#parts.handler.exchangeFailed(BAD_GATEWAY));
    return "over";
  }

  #canRepeat(): boolean {
    const { requests, request } = this.#parts;
    const hasNoBody = requests.body.isDone && request.isBodiless;
    return hasNoBody && !this.#hasAnswered && !this.#parts.net.loop.isClosed;
  }

  #release(): void {
    this.#server?.leave(this.#parts.net.loop, !this.#isOver || this.#response === undefined);
    this.#server = undefined;
    this.#target?.closed();
    this.#target = undefined;
  }

  #count(): void {
    const { client, receivedBefore, sentBefore } = this.#parts;
    this.#target?.moved(client.received - receivedBefore, client.sent - sentBefore);
  }

  #end(tell: () => void): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#count();
    this.#dial?.cancel();
    this.#parts.client.rest = undefined;
    this.#release();
    tell();
  }
}

const NONE = Buffer.alloc(0);
