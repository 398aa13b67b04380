import fc from "fast-check";
import { expect, test } from "vitest";
import { KcpArq } from "./kcp-arq.ts";
import { type FastLevel, KCP_MODES } from "./kcp-mode.ts";
import {
  COMMAND,
  expandSerial,
  putSegmentHeader,
  SEGMENT_HEADER_BYTES,
  SegmentReader,
} from "./segment.ts";

const PACKET_BYTES = 400;

/** What becomes of one packet. */
type Fate = "lost" | "late" | "twice" | "fine";

interface Wire {
  readonly latencyMs: number;
  fate(): Fate;
}

/** Two ends, a clock that jumps from event to event, and a wire that does what it likes. */
class World {
  nowMs = 0;
  readonly ends: readonly [KcpArq, KcpArq];
  readonly heard: [Uint8Array[], Uint8Array[]] = [[], []];
  sentBytes = 0;
  readonly #wire: Wire;
  readonly #packet = new Uint8Array(PACKET_BYTES);
  #flights: { readonly atMs: number; readonly to: 0 | 1; readonly bytes: Uint8Array }[] = [];
  readsFrom: readonly [boolean, boolean] = [true, true];

  constructor(wire: Wire, level: FastLevel, windowSegments = 64) {
    const options = { conv: 7, packetBytes: PACKET_BYTES, windowSegments, mode: KCP_MODES[level] };
    this.ends = [new KcpArq(options), new KcpArq(options)];
    this.#wire = wire;
  }

  /** False where nothing more will happen before the limit. */
  step(limitMs: number): boolean {
    this.#flush();
    const atMs = Math.max(
      this.nowMs,
      Math.min(
        ...this.#flights.map((flight) => flight.atMs),
        ...this.ends.map((end) => end.nextAtMs(this.nowMs)),
      ),
    );
    if (!(atMs <= limitMs)) return false;
    this.nowMs = atMs;
    const due = this.#flights.filter((flight) => flight.atMs <= atMs);
    this.#flights = this.#flights.filter((flight) => flight.atMs > atMs);
    for (const { to, bytes } of due) {
      expect(this.ends[to].input(bytes, this.nowMs)).toBe(true);
      this.read(to);
    }
    return true;
  }

  read(to: 0 | 1): void {
    if (!this.readsFrom[to]) return;
    for (let part = this.ends[to].read(); part !== undefined; part = this.ends[to].read()) {
      this.heard[to].push(part);
    }
  }

  runUntil(isDone: () => boolean, limitMs: number): void {
    while (!isDone()) if (!this.step(limitMs)) break;
    expect(isDone()).toBe(true);
  }

  textOf(to: 0 | 1): string {
    return Buffer.concat(this.heard[to]).toString("latin1");
  }

  #flush(): void {
    for (const from of [0, 1] as const) {
      this.ends[from].flush(this.nowMs, this.#packet, (count) => {
        this.sentBytes += count;
        this.#launch(from === 0 ? 1 : 0, this.#packet.slice(0, count));
      });
    }
  }

  #launch(to: 0 | 1, bytes: Uint8Array): void {
    const fate = this.#wire.fate();
    const { latencyMs } = this.#wire;
    const atMs = this.nowMs + latencyMs;
    if (fate === "lost") return;
    this.#flights.push({ atMs: fate === "late" ? atMs + latencyMs + 3 : atMs, to, bytes });
    if (fate === "twice") this.#flights.push({ atMs: atMs + 1, to, bytes });
  }
}

const text = (count: number, seed: number): string =>
  Array.from({ length: count }, (_, index) => String.fromCharCode(33 + ((index * seed) % 90))).join(
    "",
  );

const fates = fc.array(
  fc.oneof(
    { weight: 5, arbitrary: fc.constant<Fate>("fine") },
    fc.constantFrom<Fate>("lost", "late", "twice"),
  ),
  { maxLength: 400 },
);

test("whatever is lost, doubled or late, both streams arrive whole", () => {
  fc.assert(
    fc.property(
      fates,
      fc.constantFrom<FastLevel>(1, 2, 3, 4),
      fc.integer({ min: 0, max: 80 }),
      fc.integer({ min: 0, max: 9000 }),
      fc.integer({ min: 0, max: 9000 }),
      (pattern, level, latencyMs, there, back) => {
        let at = 0;
        const world = new World(
          {
            latencyMs,
            fate: () => {
              at += 1;
              return pattern[at - 1] ?? "fine";
            },
          },
          level,
        );
        const [out, home] = [text(there, 7), text(back, 11)];
        for (let from = 0; from < out.length; from += 777) {
          world.ends[0].push(Buffer.from(out.slice(from, from + 777), "latin1"));
        }
        world.ends[1].push(Buffer.from(home, "latin1"));
        world.runUntil(() => world.ends.every((end) => end.isIdle), 3_600_000);
        expect(world.textOf(1)).toBe(out);
        expect(world.textOf(0)).toBe(home);
      },
    ),
    { numRuns: 150 },
  );
});

test("a reader that stops shuts the window; when it goes on, all arrives", () => {
  let count = 0;
  const world = new World(
    {
      latencyMs: 10,
      fate: () => {
        count += 1;
        return count % 5 === 0 ? "lost" : "fine";
      },
    },
    4,
    16,
  );
  world.readsFrom = [true, false];
  const sent = text(20_000, 13);
  world.ends[0].push(Buffer.from(sent, "latin1"));
  while (world.step(5000));
  expect(world.ends[0].queuedBytes).toBeGreaterThan(10_000);
  world.readsFrom = [true, true];
  world.read(1);
  world.runUntil(() => world.ends[0].isIdle, 60_000);
  expect(world.textOf(1)).toBe(sent);
});

test("losses are made good with hardly a byte more than was lost", () => {
  let state = 1;
  let lost = 0;
  const world = new World(
    {
      latencyMs: 50,
      fate: () => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        const isLost = state / 2 ** 32 < 0.05;
        if (isLost) lost += 1;
        return isLost ? "lost" : "fine";
      },
    },
    4,
    1024,
  );
  const sent = text(600_000, 17);
  world.ends[0].push(Buffer.from(sent, "latin1"));
  world.runUntil(() => world.ends[0].isIdle, 600_000);
  expect(world.textOf(1)).toBe(sent);
  expect(world.ends[0].resentSegments).toBeLessThanOrEqual(lost + 10);
  expect(world.ends[0].needlessResends).toBeLessThanOrEqual(10);
});

test.each([
  [0, 0],
  [2 ** 32 - 1, 2 ** 32 - 1],
  [2 ** 32 + 5, 2 ** 32 - 3],
  [2 ** 32 - 3, 2 ** 32 + 5],
  [3 * 2 ** 32 + 7, 3 * 2 ** 32 + 4000],
])("%d is read again from its 32 bits, near to %d", (sn, near) => {
  const packet = new Uint8Array(SEGMENT_HEADER_BYTES);
  const view = new DataView(packet.buffer);
  const header = { conv: 7, command: COMMAND.ACK, window: 1, ts: 0, sn, una: sn, byteCount: 0 };
  putSegmentHeader(view, 0, header);
  const reader = new SegmentReader(packet);
  expect(reader.next()).toBe(true);
  expect([expandSerial(reader.sn, near), expandSerial(reader.una, near)]).toEqual([sn, sn]);
});

test("packets of others and broken ones are refused", () => {
  const options = { conv: 7, packetBytes: 200, windowSegments: 64, mode: KCP_MODES[4] };
  const [one, other] = [new KcpArq(options), new KcpArq({ ...options, conv: 8 })];
  one.push(Buffer.from("hello"));
  const packet = new Uint8Array(200);
  let count = 0;
  one.flush(0, packet, (byteCount) => {
    count = byteCount;
  });
  expect(other.input(packet.subarray(0, count), 1)).toBe(false);
  expect(new KcpArq(options).input(packet.subarray(0, count - 1), 1)).toBe(false);
  expect(new KcpArq(options).input(new Uint8Array(10), 1)).toBe(false);
});
