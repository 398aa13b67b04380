import type { DatagramFd } from "../../net/fd.ts";
import type { NetEventLoop } from "../../net/net-event-loop.ts";
import type { ChannelId, ReadyHandler } from "../../net/selector-event-loop.ts";
import { ERRNO } from "../../platform/errno.ts";
import { ipAddress } from "../../platform/socket-address.ts";
import { renderDnsRequest } from "../../wire/dns/dns-request.ts";
import { readDnsResponse } from "../../wire/dns/dns-response.ts";
import { type AttemptParts, type ResolverAttempt, randomQueryId } from "./resolver-attempt.ts";

const WILDCARDS = { v4: "0.0.0.0", v6: "::" } as const;
/** So much that is no answer of the resolver's: somebody guesses. */
const MAX_STRAYS = 16;

/**
 * A question over UDP, from a port that the system chooses at random, under a random id. The socket
 * hears the resolver only, and only what repeats id and question is its answer.
 */
export class UdpAttempt implements ResolverAttempt, ReadyHandler {
  readonly #net: NetEventLoop;
  readonly #parts: AttemptParts;
  readonly #queryId = randomQueryId();
  #fd: DatagramFd | undefined;
  #channel: ChannelId | undefined;
  #hasAsked = false;
  #strays = 0;

  constructor(net: NetEventLoop, parts: AttemptParts) {
    this.#net = net;
    this.#parts = parts;
  }

  start(): void {
    const { resolver } = this.#parts;
    const from = ipAddress(WILDCARDS[resolver.family === "v6" ? "v6" : "v4"], 0);
    const fd = this.#net.provider.bindDatagram(from, { connectTo: resolver });
    this.#fd = fd;
    const opened = fd.finishOpen();
    if (opened === 0 || opened === -ERRNO.EINPROGRESS) {
      this.#channel = this.#net.loop.add(fd, this);
      this.#ask(fd);
    } else this.#parts.onFailed();
  }

  close(): void {
    this.#fd?.close();
    if (this.#channel !== undefined) this.#net.loop.remove(this.#channel);
    this.#fd = undefined;
    this.#channel = undefined;
  }

  onReady(): void {
    const fd = this.#fd;
    if (fd === undefined) return;
    this.#ask(fd);
    while (fd === this.#fd && fd.readable) {
      const count = fd.receive();
      if (count < 0) {
        this.#parts.onFailed();
        return;
      }
      for (let index = 0; index < count && fd === this.#fd; index += 1) {
        this.#heard(Buffer.from(fd.datagram(index)));
      }
    }
  }

  onRemoved(): void {
    this.#channel = undefined;
    this.#parts.onFailed();
  }

  #ask(fd: DatagramFd): void {
    if (this.#hasAsked || fd.finishOpen() !== 0) return;
    this.#hasAsked = true;
    fd.queue(renderDnsRequest(this.#parts.query, this.#queryId));
    fd.flush();
  }

  #heard(bytes: Buffer): void {
    const { query, onResponse, onFailed } = this.#parts;
    const response = readDnsResponse(bytes, this.#queryId, query.question);
    if (response !== undefined) {
      onResponse(response);
      return;
    }
    this.#strays += 1;
    if (this.#strays >= MAX_STRAYS) onFailed();
  }
}
