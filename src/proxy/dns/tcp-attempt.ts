import type { Connection, ConnectionHandler } from "../../net/connection.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import { DnsFraming, frameDnsMessage } from "../../wire/dns/dns-framing.ts";
import { renderDnsRequest } from "../../wire/dns/dns-request.ts";
import { readDnsResponse } from "../../wire/dns/dns-response.ts";
import { type AttemptParts, type ResolverAttempt, randomQueryId } from "./resolver-attempt.ts";

/** A question over TCP, on a connection of its own. */
export class TcpAttempt implements ResolverAttempt, ConnectionHandler {
  readonly #net: NetEventLoop;
  readonly #parts: AttemptParts;
  readonly #queryId = randomQueryId();
  readonly #framing = new DnsFraming();
  #connection: Connection | undefined;

  constructor(net: NetEventLoop, parts: AttemptParts) {
    this.#net = net;
    this.#parts = parts;
  }

  start(): void {
    this.#connection = this.#net.connection(this.#net.provider.connect(this.#parts.resolver), this);
  }

  close(): void {
    const connection = this.#connection;
    this.#connection = undefined;
    connection?.close();
  }

  onConnected(connection: Connection): void {
    connection.write(frameDnsMessage(renderDnsRequest(this.#parts.query, this.#queryId)));
  }

  onReadable(connection: Connection): void {
    const [message] = this.#framing.feed(Buffer.from(connection.input.take()));
    if (message === undefined || this.#connection === undefined) return;
    const response = readDnsResponse(message, this.#queryId, this.#parts.query.question);
    if (response === undefined) this.#failed();
    else this.#parts.onResponse(response);
  }

  onRemoteClosed(): void {
    this.#failed();
  }

  onFailed(): void {
    this.#failed();
  }

  onClosed(): void {}

  onRemoved(): void {
    this.#failed();
  }

  #failed(): void {
    if (this.#connection !== undefined) this.#parts.onFailed();
  }
}
