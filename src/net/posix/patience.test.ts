import { expect, test } from "vitest";
import { Patience } from "./patience.ts";

/** How often it was not due before it was. */
function pauseOf(patience: Patience): number {
  let asked = 0;
  while (!patience.isDue()) asked += 1;
  return asked;
}

test("what pays is tried each time", () => {
  const patience = new Patience();
  for (let time = 0; time < 5; time += 1) {
    expect(pauseOf(patience)).toBe(0);
    patience.paid();
  }
});

test("what does not pay is tried less and less, and never given up", () => {
  const patience = new Patience();
  const pauses = Array.from({ length: 8 }, () => {
    patience.failed();
    return pauseOf(patience);
  });
  expect(pauses).toEqual([1, 3, 7, 15, 31, 31, 31, 31]);
});

test("when it pays again it is tried each time, and one failure is forgiven slowly", () => {
  const patience = new Patience();
  for (let time = 0; time < 8; time += 1) patience.failed();
  expect(pauseOf(patience)).toBe(31);
  patience.paid();
  expect(pauseOf(patience)).toBe(0);
  patience.failed();
  expect(pauseOf(patience)).toBe(31);
  for (let time = 0; time < 5; time += 1) patience.paid();
  patience.failed();
  expect(pauseOf(patience)).toBe(1);
});

test("what did harm is left for long", () => {
  const patience = new Patience();
  patience.giveUp();
  expect(pauseOf(patience)).toBe(1000);
  patience.failed();
  expect(pauseOf(patience)).toBe(31);
});
