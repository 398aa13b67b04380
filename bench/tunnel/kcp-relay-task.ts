/**
 * A line between two TUN devices, descriptors 3 and 4: so slow, so long, so lossy. What does not fit into its queue is
 * lost, too. It says every 20 ms how many bytes came in at each end.
 */
import { writeSync } from "node:fs";
import { EPOLLIN } from "../../src/platform/linux/abi.ts";
import { Epoll } from "../../src/platform/linux/epoll.ts";
import { read, write } from "../../src/platform/linux/io-calls.ts";
import { allocateNative } from "../../src/platform/linux/native-memory.ts";

const [lossRate = 0, delayMs = 0, megabits = 1, queueMs = 100] = process.argv.slice(2).map(Number);
const BYTES_PER_MS = (megabits * 1e6) / 8 / 1000;
const VNET_BYTES = 10;
const REPORT_MS = 20;
const scratch = allocateNative(65_536);

interface Packet {
  readonly atMs: number;
  readonly bytes: Uint8Array;
}

/** One direction: packets leave one after the other, and arrive later, or never. */
class Direction {
  readonly #from: number;
  readonly #to: number;
  readonly #flying: Packet[] = [];
  #freeAtMs = 0;
  bytes = 0;

  constructor(from: number, to: number) {
    this.#from = from;
    this.#to = to;
  }

  take(nowMs: number): void {
    for (;;) {
      const count = read(this.#from, scratch.address, scratch.bytes.length);
      if (count <= 0) return;
      const byteCount = count - VNET_BYTES;
      this.bytes += byteCount;
      const startMs = Math.max(nowMs, this.#freeAtMs);
      if (startMs - nowMs > queueMs) continue;
      this.#freeAtMs = startMs + byteCount / BYTES_PER_MS;
      if (Math.random() < lossRate) continue;
      this.#flying.push({ atMs: this.#freeAtMs + delayMs, bytes: scratch.bytes.slice(0, count) });
    }
  }

  deliver(nowMs: number): number {
    for (;;) {
      const first = this.#flying[0];
      if (first === undefined) return Number.POSITIVE_INFINITY;
      if (first.atMs > nowMs) return first.atMs;
      this.#flying.shift();
      scratch.bytes.set(first.bytes);
      write(this.#to, scratch.address, first.bytes.length);
    }
  }
}

const directions = [new Direction(3, 4), new Direction(4, 3)] as const;
const epoll = new Epoll(2);
epoll.add(3, EPOLLIN, 0, 0);
epoll.add(4, EPOLLIN, 1, 0);
let reportAtMs = 0;
for (;;) {
  const nowMs = performance.now();
  for (const direction of directions) direction.take(nowMs);
  const nextMs = Math.min(...directions.map((direction) => direction.deliver(nowMs)));
  if (nowMs >= reportAtMs) {
    reportAtMs = nowMs + REPORT_MS;
    writeSync(1, `${directions.map(({ bytes }) => bytes).join(" ")}\n`);
  }
  epoll.wait(Math.max(0, Math.ceil(Math.min(nextMs, reportAtMs) - performance.now())));
}
