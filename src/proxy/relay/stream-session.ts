import type { StreamFd } from "../../net/fd.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { Introduction, Opening, OpeningStep } from "../openings/opening.ts";
import { Dial, type DialHandler, type Dialing } from "./dial.ts";
import type { DialTarget, DialTargets } from "./dial-targets.ts";
import { Farewell } from "./farewell.ts";
import { Relay } from "./relay.ts";
import { type EndOwner, RelayEnd } from "./relay-end.ts";
import type { OpenSession, SessionHost } from "./session-host.ts";
import type { ServiceHolder, StreamService } from "./stream-service.ts";

const NO_BYTES = Buffer.alloc(0);

/**
 * A connection of a client until its bytes pass: what it says first is read, a server is chosen and
 * connected to; then a `Relay` takes over.
 */
export class StreamSession implements EndOwner, DialHandler, OpenSession {
  readonly #host: SessionHost;
  readonly #holder: ServiceHolder;
  readonly #client: RelayEnd;
  readonly #openings: Opening[];
  /** Of its row until the end; its decisions are those of when they are taken. */
  #service: StreamService;
  #timer: Timer | undefined;
  #dial: Dialing | undefined;
  #introduction: Introduction = {};
  /** What came after the openings, for the server. */
  #rest: Buffer = NO_BYTES;
  #state: "opening" | "connecting" | "closed" = "opening";

  constructor(host: SessionHost, holder: ServiceHolder, fd: StreamFd) {
    const { service } = holder;
    this.#host = host;
    this.#holder = holder;
    this.#service = service;
    this.#client = new RelayEnd(fd, service.inBufferBytes, this);
    this.#openings = service.openingsFor(fd);
    service.row.opened();
    host.sessions.add(this);
  }

  start(): void {
    this.#client.enter(this.#host.net.loop);
    if (this.#openings.length === 0) this.#connect();
    else this.#beginOpening(NO_BYTES);
  }

  endReady(): void {
    // Once it is connecting, readiness is remembered by the FD, and the relay finds it.
    if (this.#state === "opening") this.#read();
  }

  endDismissed(): void {
    this.abort();
  }

  get listener(): string {
    return this.#service.key;
  }

  roleOf(): ChannelRole {
    return { listener: this.listener, session: {} };
  }

  /** Who keeps a connection ready for later has nothing to lose. */
  drain(): void {
    if (this.#state === "opening" && this.#openings[0]?.isIdle === true) this.#close(false);
  }

  abort(): void {
    this.#close(true);
  }

  dialed(server: RelayEnd, target: DialTarget, latencyMs: number): void {
    target.tookMs(latencyMs);
    const { net, sessions } = this.#host;
    const service = this.#service;
    const client = this.#client;
    client.passage = this.#introduction.passage;
    const greeting = service.greetServer(client.fd, this.#introduction);
    const first = greeting.length === 0 ? this.#rest : Buffer.concat([greeting, this.#rest]);
    if (first.length > 0) client.putFirst(first, net.provider.allocate(first.length));
    // What the server has said with its greeting comes after our answer.
    const answer = Buffer.concat([
      service.answerConnected(server.fd, this.#introduction),
      server.takeFirst(),
    ]);
    if (answer.length > 0) server.putFirst(answer, net.provider.allocate(answer.length));
    sessions.delete(this);
    this.#state = "closed";
    const { row } = service;
    const counted = { countedIn: 0, countedOut: 0 };
    new Relay(this.#host, { client, server, target, row, service, ...counted }).start();
  }

  dialFailed(result: number): void {
    if (this.#state === "closed") return;
    this.#service.row.failed();
    this.#host.log.debug(
      { listener: this.#service.key, reason: errnoName(result) },
      "a client could not be served: no server took the connection",
    );
    this.#refuse(this.#service.answerFailed(result, this.#introduction));
  }

  #beginOpening(already: Buffer): void {
    const [opening] = this.#openings;
    if (opening === undefined) {
      this.#rest = already;
      this.#connect();
      return;
    }
    // Who may not come in is not spoken with.
    if (opening.tellsClient !== true && !this.#isLetIn()) return;
    const { loop } = this.#host.net;
    if (this.#timer === undefined) this.#timer = new Timer(() => this.#giveUp());
    loop.arm(this.#timer, opening.patienceMs);
    if (already.length > 0) this.#take(opening.feed(already));
    else if (this.#client.hasEnded) this.#giveUp();
  }

  #read(): void {
    const { net } = this.#host;
    const { fd, bufferBytes } = this.#client;
    while (this.#state === "opening" && fd.readable) {
      const count = fd.read(net.scratch, 0, bufferBytes);
      if (count > 0) {
        this.#client.received += count;
        this.#feed(Buffer.from(net.scratch.bytes.subarray(0, count)));
      } else if (count === 0) {
        this.#client.hasEnded = true;
        this.#giveUp();
      } else if (count !== -ERRNO.EAGAIN) {
        this.abort();
      }
    }
  }

  #feed(chunk: Buffer): void {
    const [opening] = this.#openings;
    if (opening !== undefined) this.#take(opening.feed(chunk));
  }

  #giveUp(): void {
    const [opening] = this.#openings;
    if (opening !== undefined) this.#take(opening.giveUp());
  }

  #take(step: OpeningStep): void {
    if (step.kind === "refused") {
      this.#host.log.debug(
        { listener: this.#service.key, reason: step.reason },
        "a client was refused",
      );
      this.#service.row.failed();
      this.#refuse(step.say ?? NO_BYTES);
      return;
    }
    if (step.kind === "farewell") {
      this.#bidFarewell(step);
      return;
    }
    if (step.say !== undefined && !this.#say(step.say)) {
      this.abort();
      return;
    }
    if (step.kind === "more") {
      if (step.isAlive === true) this.#rearm();
      return;
    }
    this.#openings.shift();
    this.#introduction = { ...this.#introduction, ...step.introduction };
    this.#beginOpening(step.rest);
  }

  #rearm(): void {
    const [opening] = this.#openings;
    if (opening === undefined || this.#timer === undefined) return;
    this.#host.net.loop.arm(this.#timer, opening.patienceMs);
  }

  #bidFarewell({ say, afterMs, reason }: Extract<OpeningStep, { kind: "farewell" }>): void {
    const { key, row } = this.#service;
    if (reason !== undefined) {
      row.failed();
      this.#host.log.debug({ listener: key, reason }, "a client was refused");
    }
    if (this.#timer !== undefined) this.#host.net.loop.disarm(this.#timer);
    this.#state = "closed";
    this.#host.sessions.delete(this);
    new Farewell(this.#host, { client: this.#client, say, row, listener: key }).start(afterMs);
  }

  #connect(): void {
    this.#state = "connecting";
    if (this.#timer !== undefined) this.#host.net.loop.disarm(this.#timer);
    // The listener may have changed since it came in, and what it led to may be gone.
    const { service: latest } = this.#holder;
    if (latest.key === this.#service.key) this.#service = latest;
    if (!this.#isLetIn()) return;
    const service = this.#service;
    if (service.takeOver?.(this.#client, this.#introduction) === true) {
      this.#state = "closed";
      this.#host.sessions.delete(this);
      return;
    }
    service.findTargets(this.#client.fd, this.#introduction, (targets) => this.#dialTo(targets));
  }

  /** Whoever is not is gone. */
  #isLetIn(): boolean {
    if (this.#service.allows(this.#client.fd, this.#introduction)) return true;
    this.#service.row.failed();
    this.abort();
    return false;
  }

  #dialTo(targets: DialTargets): void {
    if (this.#state === "closed") return;
    const { connectTimeoutMs, outBufferBytes } = this.#service;
    this.#dial = this.#service.dial?.(targets, this.#introduction, this);
    this.#dial ??= new Dial(this.#host.net, targets, {
      connectTimeoutMs,
      bufferBytes: outBufferBytes,
      handler: this,
    });
    this.#dial.start();
  }

  /** Short answers always fit into a fresh connection; a client that takes none is not worth waiting for. */
  #say(bytes: Buffer): boolean {
    if (bytes.length === 0) return true;
    const { scratch } = this.#host.net;
    scratch.bytes.set(bytes);
    const count = this.#client.fd.write(scratch, 0, bytes.length);
    this.#client.sent += Math.max(0, count);
    return count === bytes.length;
  }

  #refuse(say: Buffer): void {
    this.#close(say.length === 0 || !this.#say(say));
  }

  #close(withReset: boolean): void {
    if (this.#state === "closed") return;
    this.#state = "closed";
    const { net, sessions } = this.#host;
    if (this.#timer !== undefined) net.loop.disarm(this.#timer);
    this.#dial?.cancel();
    this.#client.leave(net.loop, withReset);
    sessions.delete(this);
    this.#service.row.closed();
  }
}
