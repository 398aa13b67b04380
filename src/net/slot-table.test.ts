import { expect, test } from "vitest";
import { SlotTable } from "./slot-table.ts";

test("a slot is used again under the next generation, and the old pair finds nothing", () => {
  const table = new SlotTable<string>();
  const slot = table.add("first");
  const generation = table.generationOf(slot);
  expect(table.get(slot, generation)).toBe("first");
  expect(table.remove(slot, generation)).toBe(true);
  expect(table.remove(slot, generation)).toBe(false);
  expect(table.add("second")).toBe(slot);
  expect(table.get(slot, generation)).toBeUndefined();
  expect(table.get(slot, table.generationOf(slot))).toBe("second");
  expect(table.size).toBe(1);
});

test("slots are as many as are in use at once", () => {
  const table = new SlotTable<number>();
  for (let round = 0; round < 1000; round += 1) {
    const slots = [table.add(1), table.add(2)];
    expect(Math.max(...slots)).toBeLessThan(2);
    for (const slot of slots) table.remove(slot, table.generationOf(slot));
  }
  expect(table.size).toBe(0);
  expect([...table.values()]).toEqual([]);
});

test("an unknown slot finds nothing", () => {
  const table = new SlotTable<string>();
  expect(table.get(5, 0)).toBeUndefined();
  expect(table.remove(5, 0)).toBe(false);
});
