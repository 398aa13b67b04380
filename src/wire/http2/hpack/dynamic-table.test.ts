import fc from "fast-check";
import { expect, test } from "vitest";
import { DynamicTable } from "./dynamic-table.ts";
import type { HeaderField } from "./header-field.ts";
import { headerField } from "./static-table.ts";

/** The same, as the RFC tells it. */
class PlainTable {
  fields: HeaderField[] = [];
  maxSize: number;

  constructor(maxSize: number) {
    this.maxSize = maxSize;
  }

  get size(): number {
    return this.fields.reduce((sum, { size }) => sum + size, 0);
  }

  add(field: HeaderField): void {
    this.fields.unshift(field);
    this.evict();
  }

  evict(): void {
    while (this.size > this.maxSize) this.fields.pop();
  }
}

test("holds what fits, the newest first", () => {
  const step = fc.oneof(
    fc.record({ add: fc.nat({ max: 150 }) }),
    fc.record({ resize: fc.nat({ max: 2000 }) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
      const table = new DynamicTable(1500);
      const plain = new PlainTable(1500);
      for (const [index, one] of steps.entries()) {
        if ("add" in one) {
          const field = headerField(`n${index}`, "v".repeat(one.add));
          table.add(field);
          plain.add(field);
        } else {
          table.setMaxSize(one.resize);
          plain.maxSize = one.resize;
          plain.evict();
        }
        const held = Array.from({ length: table.count }, (_, at) => table.get(at));
        expect(held).toEqual(plain.fields);
        expect(table.size).toBe(plain.size);
        expect(table.get(table.count)).toBeUndefined();
      }
    }),
  );
});
