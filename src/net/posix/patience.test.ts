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

/** Harm, each time that it is tried. */
function harmOf(patience: Patience, times: number): readonly number[] {
  return Array.from({ length: times }, () => {
    patience.didHarm();
    return pauseOf(patience);
  });
}

test("what does harm again and again is left for long", () => {
  expect(harmOf(new Patience(), 8)).toEqual([15, 31, 63, 127, 255, 511, 1023, 1023]);
});

test("harm now and then among much that pays is chance", () => {
  const patience = new Patience();
  for (let harm = 0; harm < 20; harm += 1) {
    for (let time = 0; time < 64; time += 1) patience.paid();
    patience.didHarm();
    expect(pauseOf(patience)).toBe(15);
  }
});

test("harm of before is forgotten step by step", () => {
  const patience = new Patience();
  harmOf(patience, 7);
  for (let time = 0; time < 3 * 64; time += 1) {
    patience.paid();
    // That a look is in vain says nothing of harm.
    if (time % 10 === 0) patience.failed();
  }
  pauseOf(patience);
  expect(harmOf(patience, 1)).toEqual([127]);
});

test("what paid before harm does not make up for it", () => {
  const patience = new Patience();
  harmOf(patience, 7);
  for (let time = 0; time < 63; time += 1) patience.paid();
  patience.didHarm();
  patience.paid();
  expect(harmOf(patience, 1)).toEqual([1023]);
});
