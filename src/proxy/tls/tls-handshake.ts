import { HANGUP, type StreamFd } from "../../net/fd.ts";
import type { ChannelDescription, ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { ERRNO, errnoName } from "../../platform/errno.ts";
import type { SslChannel } from "../../platform/linux/openssl/ssl-channel.ts";
import { peek } from "../../platform/linux/peek-call.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { parseProxyHeader } from "../../wire/proxy-protocol/parse-proxy-header.ts";
import type { ProxiedConnection } from "../../wire/proxy-protocol/proxy-header.ts";
import { peekClientHello } from "../../wire/tls-hello/peek-client-hello.ts";
import { HANDSHAKE_PATIENCE_MS } from "../openings/opening.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import type { Terminator } from "./terminator.ts";
import { TlsStream } from "./tls-stream.ts";

export interface HandshakeParts {
  /** Key of the listener. */
  readonly listener: string;
  readonly fd: StreamFd;
  readonly terminator: Terminator;
  /** Whether a PROXY header must come first. */
  readonly expectsHeader: boolean;
  /** Whether the client of that address may come in. */
  readonly allows: (ip: string) => boolean;
  /** It is over: the stream is the receiver's. */
  readonly done: (stream: TlsStream) => void;
  /** It failed, and the connection is closed; `hasBegun`: the client does speak TLS. */
  readonly failed: (reason: string, hasBegun: boolean) => void;
}

/** So much of a hello is looked at; certificates of clients have a limit of their own. */
const MAX_HELLO_BYTES = 16_384;

type State = "header" | "hello" | "handshake" | "over";

/**
 * A client until its TLS stands: the PROXY header of a trusted proxy, then the ClientHello, which is only looked at, so
 * that nothing is spent on those who send none; then OpenSSL has the socket. All of it must be done
 * within some seconds, however slowly the bytes come.
 */
export class TlsHandshake implements ReadyHandler, OpenSession {
  readonly #host: SessionHost;
  readonly #parts: HandshakeParts;
  readonly #timer = new Timer(() => this.#fail("the handshake took too long"));
  #state: State;
  #id: ChannelId | undefined;
  #channel: SslChannel | undefined;
  #serverName = "";
  #proxied: ProxiedConnection | undefined;

  constructor(host: SessionHost, parts: HandshakeParts) {
    this.#host = host;
    this.#parts = parts;
    this.#state = parts.expectsHeader ? "header" : "hello";
  }

  start(): void {
    const { loop } = this.#host.net;
    this.#host.sessions.add(this);
    this.#parts.terminator.hold();
    loop.arm(this.#timer, HANDSHAKE_PATIENCE_MS);
    this.#id = loop.add(this.#parts.fd, this);
    if (this.#state === "hello") this.#admit();
  }

  onReady(ready: number): void {
    if (this.#state === "header") this.#readHeader();
    if (this.#state === "hello") this.#readHello();
    if (this.#state === "handshake") this.#shake();
    // It will say no more than what was not enough.
    const isShort = this.#state === "header" || this.#state === "hello";
    if (isShort && (ready & HANGUP) !== 0) this.#fail("the client ended before its handshake");
  }

  onRemoved(): void {
    this.#id = undefined;
    this.abort();
  }

  describe(): ChannelDescription {
    const { fd, listener } = this.#parts;
    const ends = { local: fd.localAddress(), remote: fd.remoteAddress() };
    return { kind: "connection", ...ends, bytesIn: 0, bytesOut: 0, listener, session: {} };
  }

  dismiss(): void {
    this.abort();
  }

  drain(): void {}

  abort(): void {
    if (this.#state === "over") return;
    this.#leave();
    this.#channel?.free();
    this.#parts.fd.reset();
  }

  #admit(): void {
    const { fd, allows } = this.#parts;
    const address = fd.remoteAddress();
    const peer = address.family === "unix" ? "" : address.ip;
    if (!allows(this.#proxied?.source.ip ?? peer)) this.#fail("the client is not allowed in");
  }

  #readHeader(): void {
    const bytes = this.#peek();
    if (bytes === undefined) return;
    const header = parseProxyHeader(bytes, 0, bytes.length);
    switch (header.kind) {
      case "more":
        return;
      case "absent":
        this.#fail("no PROXY header came from a network that must send one");
        return;
      case "malformed":
        this.#fail(header.reason);
        return;
      case "header":
        // Just looked at: it is there.
        this.#parts.fd.read(this.#host.net.scratch, 0, header.end);
        this.#proxied = header.connection;
        this.#state = "hello";
        this.#admit();
        return;
    }
  }

  #readHello(): void {
    const bytes = this.#peek();
    if (bytes === undefined) return;
    const first = peekClientHello(bytes, 0, bytes.length, MAX_HELLO_BYTES);
    switch (first.kind) {
      case "more":
        return;
      case "not-tls":
        this.#fail("the client does not speak TLS");
        return;
      case "malformed":
        this.#fail(first.reason);
        return;
      case "hello":
        this.#begin(first.hello.serverName);
        return;
    }
  }

  #begin(serverName: string): void {
    const { fd, terminator } = this.#parts;
    this.#serverName = serverName;
    this.#channel = terminator.begin(fd.splice?.descriptor ?? -1, serverName);
    this.#state = "handshake";
  }

  #shake(): void {
    const channel = this.#channel;
    const result = channel?.accept() ?? -ERRNO.EAGAIN;
    if (channel === undefined || result === -ERRNO.EAGAIN) return;
    if (result < 0) {
      this.#fail(result === -ERRNO.EPROTO ? channel.reason : errnoName(result));
      return;
    }
    const { fd, terminator, done } = this.#parts;
    const refusal = terminator.guard.refusalOf(() => channel.peerCertificate());
    if (refusal !== undefined) {
      this.#fail(refusal);
      return;
    }
    this.#leave();
    const alpn = terminator.choosesProtocol ? channel.alpn() : "";
    const proxied = this.#proxied && {
      remote: ipAddress(this.#proxied.source.ip, this.#proxied.source.port),
      local: ipAddress(this.#proxied.destination.ip, this.#proxied.destination.port),
    };
    done(new TlsStream({ raw: fd, channel, alpn, serverName: this.#serverName, proxied }));
  }

  /** Undefined where there is nothing yet, or the connection is gone. */
  #peek(): Buffer | undefined {
    const { scratch } = this.#host.net;
    const { fd } = this.#parts;
    const count = peek(fd.splice?.descriptor ?? -1, scratch.address, scratch.bytes.length);
    if (count > 0) return Buffer.from(scratch.bytes.buffer, scratch.bytes.byteOffset, count);
    if (count === 0) this.#fail("the client ended before its handshake");
    else if (count !== -ERRNO.EAGAIN) this.#fail(errnoName(count));
    return undefined;
  }

  #fail(reason: string): void {
    if (this.#state === "over") return;
    const hasBegun = this.#channel !== undefined;
    this.#leave();
    this.#channel?.free();
    // An alert that says why is on its way to those who speak TLS.
    if (hasBegun) this.#parts.fd.close();
    else this.#parts.fd.reset();
    this.#parts.failed(reason, hasBegun);
  }

  #leave(): void {
    this.#state = "over";
    this.#parts.terminator.release();
    const { net, sessions } = this.#host;
    net.loop.disarm(this.#timer);
    sessions.delete(this);
    if (this.#id !== undefined) net.loop.remove(this.#id);
    this.#id = undefined;
  }
}
