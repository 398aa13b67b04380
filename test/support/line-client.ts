import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** A TCP connection to a port of this machine that is read line by line. */
export class LineClient {
  readonly #socket: Socket;
  #text = "";
  #hasEnded = false;
  #onNews: () => void = () => undefined;
  /** Settles when the connection is gone, in whichever way. */
  readonly closed: Promise<void>;

  private constructor(socket: Socket) {
    this.#socket = socket;
    socket.setEncoding("utf8").on("data", (text) => {
      this.#text += String(text);
      this.#onNews();
    });
    // A connection that is cut shows as the end of its lines.
    socket.on("error", () => undefined);
    socket.on("end", () => this.#end());
    this.closed = new Promise((resolve) => {
      socket.on("close", () => {
        this.#end();
        resolve();
      });
    });
  }

  /** @throws where nobody listens */
  static async open(port: number): Promise<LineClient> {
    const socket = connect(port, "127.0.0.1");
    await once(socket, "connect");
    onTestFinished(() => void socket.destroy());
    return new LineClient(socket);
  }

  /** The next line; undefined where the connection has ended. */
  async line(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf("\n");
      if (end >= 0) {
        const line = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 1);
        return line;
      }
      if (this.#hasEnded) return undefined;
      await new Promise<void>((resolve) => {
        this.#onNews = resolve;
      });
    }
  }

  /** Sends a line and returns the next one. */
  async ask(text: string): Promise<string | undefined> {
    this.#socket.write(`${text}\n`);
    return this.line();
  }

  /** Says that it has no more to send. */
  end(): void {
    this.#socket.end();
  }

  #end(): void {
    this.#hasEnded = true;
    this.#onNews();
  }
}

/** The names of the servers that so many connections in a row come to. */
export async function callTimes(port: number, count: number): Promise<readonly string[]> {
  const names: string[] = [];
  for (let call = 0; call < count; call += 1) {
    const client = await LineClient.open(port);
    names.push((await client.line()) ?? "nobody");
    client.end();
  }
  return names;
}
