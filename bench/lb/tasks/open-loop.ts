/**
 * `open-loop PORT RATE SECONDS`: sends so many requests a second by the clock, whether or not the ones
 * before were answered, on 64 connections. Prints the times from when each was due to its answer.
 */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

const HOST = "127.0.0.1";
const CONNECTIONS = 64;
const REQUEST = "GET /small HTTP/1.1\r\nHost: bench\r\n\r\n";
const TICK_MS = 1;
const MS_A_SECOND = 1000;

const [port = 0, rate = 0, seconds = 0] = process.argv.slice(2).map(Number);
const idle: Connection[] = [];
/** When each request was due that found no connection idle. */
const waiting: number[] = [];
const latenciesMs: number[] = [];

/** One request at a time; an answer is so small that it comes in one piece. */
class Connection {
  readonly #socket: Socket;
  #dueMs = 0;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.setNoDelay(true).on("data", () => this.#answered());
    socket.on("close", () => {
      throw new Error("a connection was closed");
    });
  }

  send(dueMs: number): void {
    this.#dueMs = dueMs;
    this.#socket.write(REQUEST);
  }

  #answered(): void {
    latenciesMs.push(performance.now() - this.#dueMs);
    const next = waiting.shift();
    if (next === undefined) idle.push(this);
    else this.send(next);
  }
}

for (let index = 0; index < CONNECTIONS; index += 1) {
  const socket = connect(port, HOST);
  await once(socket, "connect");
  idle.push(new Connection(socket));
}
const startMs = performance.now();
const total = rate * seconds;
let sent = 0;
// Several are due at each tick: a timer is no finer.
while (sent < total) {
  const nowMs = performance.now();
  const due = Math.min(total, Math.floor(((nowMs - startMs) * rate) / MS_A_SECOND));
  for (; sent < due; sent += 1) send(startMs + (sent * MS_A_SECOND) / rate);
  await sleep(TICK_MS);
}
while (latenciesMs.length < total) await sleep(TICK_MS);
latenciesMs.sort((a, b) => a - b);
console.log(JSON.stringify({ p50Ms: quantile(0.5), p99Ms: quantile(0.99) }));
process.exit(0);

function send(dueMs: number): void {
  const connection = idle.shift();
  if (connection === undefined) waiting.push(dueMs);
  else connection.send(dueMs);
}

function quantile(part: number): number {
  return latenciesMs[Math.floor((latenciesMs.length - 1) * part)] ?? 0;
}
