import fc from "fast-check";
import { expect, test } from "vitest";
import { type HeapItem, IndexedHeap } from "./indexed-heap.ts";

interface Item extends HeapItem {
  value: number;
}

const item = (value: number): Item => ({ value, heapIndex: -1 });
const heapOf = () => new IndexedHeap<Item>((a, b) => a.value < b.value);

const command = fc.record({
  kind: fc.constantFrom("push", "update", "delete"),
  which: fc.nat(),
  value: fc.integer(),
});

test("the first is the least after any pushes, changes and deletions", () => {
  fc.assert(
    fc.property(fc.array(command, { maxLength: 200 }), (commands) => {
      const heap = heapOf();
      const inside: Item[] = [];
      for (const { kind, which, value } of commands) {
        const known = inside[which % Math.max(1, inside.length)];
        if (kind === "push" || known === undefined) {
          const added = item(value);
          inside.push(added);
          heap.push(added);
        } else if (kind === "update") {
          known.value = value;
          heap.update(known);
        } else {
          inside.splice(inside.indexOf(known), 1);
          heap.delete(known);
          expect(known.heapIndex).toBe(-1);
        }
        const least = inside.length === 0 ? undefined : Math.min(...inside.map((one) => one.value));
        expect(heap.first?.value).toBe(least);
      }
    }),
  );
});

test("the first accepted one is found, and the others stay", () => {
  const heap = heapOf();
  for (const value of [5, 1, 4, 2, 3]) heap.push(item(value));
  expect(heap.firstAccepted((one) => one.value > 3)?.value).toBe(4);
  expect(heap.firstAccepted(() => false)).toBeUndefined();
  const drained: number[] = [];
  for (let first = heap.first; first !== undefined; first = heap.first) {
    drained.push(first.value);
    heap.delete(first);
  }
  expect(drained).toEqual([1, 2, 3, 4, 5]);
});
