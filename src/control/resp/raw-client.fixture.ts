import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";
import type { ListenAddress } from "../../core/options/listen-address.ts";

/** A client that sends what it is told, byte by byte where it is told so. */
export class RawClient {
  readonly socket: Socket;
  #received = Buffer.alloc(0);
  #isOver = false;
  #onNews: () => void = () => undefined;

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.on("data", (chunk) => {
      this.#received = Buffer.concat([this.#received, chunk]);
      this.#onNews();
    });
    // A connection that is cut shows as its end.
    socket.on("error", () => undefined);
    for (const end of ["end", "close"]) {
      socket.on(end, () => {
        this.#isOver = true;
        this.#onNews();
      });
    }
  }

  static async open(address: ListenAddress): Promise<RawClient> {
    const socket =
      address.kind === "unix" ? connect(address.path) : connect(address.port, address.host);
    await once(socket, "connect");
    onTestFinished(() => void socket.destroy());
    return new RawClient(socket);
  }

  send(bytes: string | Buffer): void {
    this.socket.write(bytes);
  }

  /** The next so many bytes; fewer where it ends before. */
  async take(length: number): Promise<string> {
    while (this.#received.length < length && !this.#isOver) await this.#news();
    const text = this.#received.subarray(0, length).toString();
    this.#received = this.#received.subarray(length);
    return text;
  }

  /** The next line, without its end; what is there where the connection ends before. */
  async line(): Promise<string> {
    for (;;) {
      const end = this.#received.indexOf("\r\n");
      if (end >= 0) return (await this.take(end + 2)).slice(0, -2);
      if (this.#isOver) return this.take(this.#received.length);
      await this.#news();
    }
  }

  /** Sends an inline command; gives the first line of the answer. */
  ask(command: string): Promise<string> {
    this.send(`${command}\r\n`);
    return this.line();
  }

  /** Everything up to the end of the connection. */
  async rest(): Promise<string> {
    while (!this.#isOver) await this.#news();
    return this.take(this.#received.length);
  }

  #news(): Promise<void> {
    return new Promise((resolve) => {
      this.#onNews = resolve;
    });
  }
}

/** A command as clients send it. */
export function arrayOf(...words: readonly string[]): string {
  const parts = words.map((word) => `$${Buffer.byteLength(word)}\r\n${word}\r\n`);
  return `*${words.length}\r\n${parts.join("")}`;
}
