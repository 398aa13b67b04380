import fc from "fast-check";
import { expect, test } from "vitest";
import { ERRNO } from "../platform/errno.ts";
import { FakeStream } from "./fake-stream.fixture.ts";
import { type Region, RegionPool } from "./region.ts";
import { RingBuffer } from "./ring-buffer.ts";

class CountingPool extends RegionPool {
  lent = 0;

  override borrow(): Region {
    this.lent += 1;
    return super.borrow();
  }

  override giveBack(region: Region): void {
    this.lent -= 1;
    super.giveBack(region);
  }
}

function makeRing(capacityBytes: number): { ring: RingBuffer; lent: () => number } {
  const pool = new CountingPool({
    regionBytes: capacityBytes,
    maxKept: 1,
    allocate: (byteCount) => ({ bytes: new Uint8Array(byteCount), address: 0 }),
  });
  return { ring: new RingBuffer(pool), lent: () => pool.lent };
}

function edgesOf(ring: RingBuffer): string[] {
  const edges: string[] = [];
  ring.setReader({ onBufferReadable: () => edges.push("readable") });
  ring.setWriter({ onBufferWritable: () => edges.push("writable") });
  return edges;
}

const text = (bytes: Uint8Array): string => Buffer.from(bytes).toString();

test("gives back what was stored, in order and round the end", () => {
  const { ring } = makeRing(8);
  expect(ring.store(Buffer.from("abcdef"))).toBe(6);
  expect(text(ring.take(4))).toBe("abcd");
  expect(ring.store(Buffer.from("ghijkl"))).toBe(6);
  expect(ring.free).toBe(0);
  expect(text(ring.peek())).toBe("efgh");
  expect(text(ring.take())).toBe("efghijkl");
  expect(ring.size).toBe(0);
});

test("takes no more than there is room for", () => {
  const { ring } = makeRing(4);
  expect(ring.store(Buffer.from("abcdef"))).toBe(4);
  expect(ring.store(Buffer.from("x"))).toBe(0);
  expect(text(ring.take())).toBe("abcd");
});

test("tells the edges only: empty to readable, full to writable", () => {
  const { ring } = makeRing(4);
  const edges = edgesOf(ring);
  ring.store(Buffer.from("ab"));
  ring.store(Buffer.from("cd"));
  expect(edges).toEqual(["readable"]);
  ring.discard(1);
  ring.discard(1);
  expect(edges).toEqual(["readable", "writable"]);
  ring.discard(2);
  ring.store(Buffer.from("e"));
  expect(edges).toEqual(["readable", "writable", "readable"]);
  ring.clear();
  expect(edges).toHaveLength(3);
});

test("holds memory only while there are bytes in it", () => {
  const { ring, lent } = makeRing(4);
  expect(lent()).toBe(0);
  ring.store(Buffer.from("ab"));
  expect(lent()).toBe(1);
  ring.take();
  expect(lent()).toBe(0);
  const nothing = new FakeStream({ reads: [-ERRNO.EAGAIN] });
  expect(ring.storeFrom(nothing)).toBe(-ERRNO.EAGAIN);
  expect(lent()).toBe(0);
});

test("reads from an FD as much as there is room for in one piece", () => {
  const { ring } = makeRing(6);
  const fd = new FakeStream({ reads: ["abcd", "efgh", 0] });
  expect(ring.storeFrom(fd)).toBe(4);
  expect(ring.storeFrom(fd)).toBe(2);
  expect(text(ring.take(3))).toBe("abc");
  expect(ring.storeFrom(fd)).toBe(2);
  expect(text(ring.take())).toBe("defgh");
  expect(ring.storeFrom(fd)).toBe(0);
  expect(ring.storeFrom(new FakeStream({ reads: [-ERRNO.ECONNRESET] }))).toBe(-ERRNO.ECONNRESET);
});

test("writes to an FD as long as it takes, and keeps the rest", () => {
  const { ring } = makeRing(8);
  ring.store(Buffer.from("abcdef"));
  ring.discard(4);
  ring.store(Buffer.from("ghij"));
  const fd = new FakeStream({ takes: [4, 1] });
  expect(ring.sendTo(fd)).toBe(5);
  expect(fd.written).toBe("efghi");
  expect(ring.sendTo(new FakeStream({ takes: [-ERRNO.EPIPE] }))).toBe(-ERRNO.EPIPE);
  expect(text(ring.take())).toBe("j");
});

test("is a queue of bytes, whatever is done in whatever order", () => {
  const steps = fc.array(
    fc.oneof(
      fc.record({ store: fc.uint8Array({ maxLength: 12 }) }),
      fc.record({ take: fc.nat({ max: 12 }) }),
    ),
  );
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 10 }), steps, (capacityBytes, todo) => {
      const { ring, lent } = makeRing(capacityBytes);
      const model: number[] = [];
      for (const step of todo) {
        if ("store" in step) {
          const taken = ring.store(step.store);
          expect(taken).toBe(Math.min(step.store.length, capacityBytes - model.length));
          model.push(...step.store.subarray(0, taken));
        } else {
          expect([...ring.take(step.take)]).toEqual(model.splice(0, step.take));
        }
        expect(ring.size).toBe(model.length);
        expect(lent()).toBe(model.length > 0 ? 1 : 0);
      }
    }),
  );
});
