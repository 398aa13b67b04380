import { expect, test } from "vitest";
import { type LinkableLoop, LoopLinks } from "./loop-links.ts";

class Loop implements LinkableLoop<Loop> {
  readonly name: string;
  readonly told: string[];

  constructor(name: string, told: string[]) {
    this.name = name;
    this.told = told;
  }

  link(other: Loop): void {
    this.told.push(`${this.name} + ${other.name}`);
  }

  async unlink(other: Loop): Promise<void> {
    this.told.push(`${this.name} - ${other.name}`);
  }
}

test("each pair is linked once, in whichever direction, and no loop with itself", () => {
  const told: string[] = [];
  const [a, b, c] = [new Loop("a", told), new Loop("b", told), new Loop("c", told)];
  const links = new LoopLinks<Loop>();
  links.join([a], [b, c]);
  links.join([b, a], [a, b, c]);
  expect(told).toEqual(["a + b", "a + c", "b + c"]);
});

test("a loop that has ended is forgotten by all that had a link to it", async () => {
  const told: string[] = [];
  const [a, b, c] = [new Loop("a", told), new Loop("b", told), new Loop("c", told)];
  const links = new LoopLinks<Loop>();
  links.join([a, b], [c]);
  await links.cut(c);
  await links.cut(c);
  expect(told.slice(2).sort()).toEqual(["a - c", "b - c"]);
  links.join([a], [c]);
  expect(told.at(-1)).toBe("a + c");
});
