import { createHash, randomBytes } from "node:crypto";
import { createServer, Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { onTestFinished } from "vitest";
import { ERRNO } from "../../src/platform/errno.ts";
import { connectTo } from "../../src/platform/linux/socket-names.ts";
import { checked } from "../../src/platform/linux/system-error.ts";
import { ipAddress } from "../../src/platform/socket-address.ts";
import type { NamespaceNetwork } from "./namespace-network.ts";
import type { PartyName } from "./plan-network.ts";
import { openBound } from "./sockets.ts";

/** Who waits longer than that for anything waits in vain. */
const PATIENCE_MS = 8000;

/** Fails where it takes too long. */
export async function inTime<T>(
  what: string,
  awaited: Promise<T>,
  limitMs: number = PATIENCE_MS,
): Promise<T> {
  const over = new AbortController();
  const late = delay(limitMs, undefined, { signal: over.signal }).then(() => {
    throw new Error(`${what}: nothing for ${limitMs} ms`);
  });
  try {
    return await Promise.race([awaited, late]);
  } finally {
    over.abort();
    late.catch(() => undefined);
  }
}

/** One end of a TCP connection, which this process holds. */
export class StreamEnd {
  readonly socket: Socket;
  /** How the other end ended it: `end`, or the name of an error. */
  readonly ended: Promise<string>;
  #chunks: Buffer[] = [];
  #bytes = 0;
  #wake: () => void = () => undefined;

  constructor(socket: Socket) {
    this.socket = socket;
    socket.setNoDelay(true);
    socket.on("data", (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      this.#wake();
    });
    this.ended = new Promise((resolve) => {
      socket.on("end", () => resolve("end"));
      socket.on("error", (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    });
    onTestFinished(() => void socket.destroy());
  }

  write(bytes: Uint8Array | string): void {
    this.socket.write(bytes);
  }

  /** Just that many bytes. */
  read(count: number, limitMs?: number): Promise<Buffer> {
    return inTime(`${count} bytes`, this.#take(count), limitMs);
  }

  async #take(count: number): Promise<Buffer> {
    while (this.#bytes < count) {
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [all.subarray(count)];
    this.#bytes -= count;
    return all.subarray(0, count);
  }
}

/** Takes connections at a place of a party. */
export class StreamServer {
  readonly #arrived: StreamEnd[] = [];
  #wake: () => void = () => undefined;

  constructor(network: NamespaceNetwork, party: PartyName, ip: string, port: number) {
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      this.#arrived.push(new StreamEnd(socket));
      this.#wake();
    });
    onTestFinished(() => void server.close());
    server.listen({ fd: network.inside(party, () => checked("bind", openBound("TCP", ip, port))) });
  }

  /** The one that came first of those that were not taken yet. */
  next(): Promise<StreamEnd> {
    return inTime("a connection", this.#next());
  }

  async #next(): Promise<StreamEnd> {
    for (;;) {
      const end = this.#arrived.shift();
      if (end !== undefined) return end;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

/** Who connects from where to where. */
export interface StreamPlace {
  readonly party: PartyName;
  readonly from: string;
  readonly fromPort: number;
  readonly to: string;
  readonly port: number;
}

/** Does not wait for an answer. */
export function openStream(network: NamespaceNetwork, place: StreamPlace): StreamEnd {
  const fd = network.inside(place.party, () => {
    const bound = checked("bind", openBound("TCP", place.from, place.fromPort));
    const result = connectTo(bound, ipAddress(place.to, place.port));
    if (result !== -ERRNO.EINPROGRESS) checked("connect", result);
    return bound;
  });
  return new StreamEnd(new Socket({ fd, allowHalfOpen: true }));
}

/** So many times a word and its answer. */
export async function converse(one: StreamEnd, other: StreamEnd, times: number): Promise<void> {
  for (let time = 0; time < times; time += 1) {
    const word = `word ${time}`;
    for (const [from, to] of [
      [one, other],
      [other, one],
    ] as const) {
      from.write(word);
      const heard = String(await to.read(word.length));
      if (heard !== word) throw new Error(`${word} was heard as ${heard}`);
    }
  }
}

/** Sends that many bytes, and fails where others arrive. */
export async function pour(from: StreamEnd, to: StreamEnd, bytes: number): Promise<void> {
  const sent = randomBytes(bytes);
  from.write(sent);
  if (digestOf(await to.read(bytes)) !== digestOf(sent)) throw new Error("other bytes arrived");
}

function digestOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
