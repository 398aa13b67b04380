import type { Connection, ConnectionHandler } from "../../net/connection.ts";
import type { StreamFd } from "../../net/fd.ts";
import type { ChannelRole } from "../../net/selector-event-loop.ts";
import { Timer } from "../../net/timer-queue.ts";
import { DnsFraming, frameDnsMessage } from "../../wire/dns/dns-framing.ts";
import type { OpenSession, SessionHost } from "../relay/session-host.ts";
import type { DnsResponder } from "./dns-responder.ts";

export interface DnsStreamParts {
  /** Key of the listener. */
  readonly listener: string;
  /** As it is when a question comes. */
  readonly responder: () => Pick<DnsResponder, "answer">;
  readonly client: string;
  /** So long it may be silent, and so long it may take for a question, however it sends that. */
  readonly patienceMs: number;
  /** A whole question has come. */
  readonly onAsked: () => void;
  /** It is over; told once. */
  readonly onClosed: () => void;
}

/** A client that has so many questions open is not read from until some are answered. */
const MAX_OPEN_QUESTIONS = 32;
/** Two of the longest messages. */
const OUTPUT_BYTES = 131_072;

/** The questions that a client asks over one TCP connection; answers come as they are there (RFC 7766). */
export class DnsStream implements ConnectionHandler, OpenSession {
  readonly #host: SessionHost;
  readonly #parts: DnsStreamParts;
  readonly #framing = new DnsFraming();
  readonly #connection: Connection;
  /** Bytes alone do not put it off: they can drip for ever. */
  readonly #deadline = new Timer(() => this.#late());
  #openQuestions = 0;
  #isDraining = false;

  constructor(host: SessionHost, fd: StreamFd, parts: DnsStreamParts) {
    this.#host = host;
    this.#parts = parts;
    host.sessions.add(this);
    this.#waitForQuestion();
    this.#connection = host.net.connection(fd, this, {
      outputBytes: OUTPUT_BYTES,
      idleTimeoutMs: parts.patienceMs,
    });
  }

  drain(): void {
    this.#isDraining = true;
    this.#closeWhenDone();
  }

  abort(): void {
    this.#connection.reset();
  }

  onReadable(): void {
    this.#read();
  }

  onRemoteClosed(): void {
    this.#closeWhenDone();
  }

  onFailed(): void {}

  onClosed(): void {
    this.#host.net.loop.disarm(this.#deadline);
    this.#host.sessions.delete(this);
    this.#parts.onClosed();
  }

  onRemoved(): void {
    this.onClosed();
  }

  roleOf(): ChannelRole {
    return { listener: this.#parts.listener, session: {} };
  }

  #read(): void {
    const { input } = this.#connection;
    if (this.#openQuestions >= MAX_OPEN_QUESTIONS || input.size === 0) return;
    const { responder, client, onAsked } = this.#parts;
    const messages = this.#framing.feed(Buffer.from(input.take()));
    if (messages.length > 0) {
      this.#waitForQuestion();
      onAsked();
    }
    for (const message of messages) {
      this.#openQuestions += 1;
      const asking = { bytes: Buffer.from(message), client, isOverTcp: true };
      responder().answer(asking, (answer) => this.#answered(answer));
    }
  }

  #waitForQuestion(): void {
    this.#host.net.loop.arm(this.#deadline, this.#parts.patienceMs);
  }

  /** Whoever waits for us is not late. */
  #late(): void {
    if (this.#openQuestions > 0) this.#waitForQuestion();
    else this.abort();
  }

  #answered(answer: Buffer | undefined): void {
    this.#openQuestions -= 1;
    if (this.#connection.isClosed) return;
    const framed = answer && frameDnsMessage(answer);
    if (framed !== undefined && this.#connection.write(framed) < framed.length) {
      // It asks and does not read.
      this.abort();
      return;
    }
    this.#read();
    this.#closeWhenDone();
  }

  #closeWhenDone(): void {
    const connection = this.#connection;
    const isOver = this.#isDraining || connection.remoteClosed;
    if (connection.isClosed || !isOver || this.#openQuestions > 0) return;
    connection.closeWrite();
    // Otherwise the rest goes out as the client reads; the idle time-out ends it.
    if (connection.output.size === 0) connection.close();
  }
}
