import fc from "fast-check";
import { expect, test } from "vitest";
import { overlap, parseSpan as span } from "./address-number.ts";
import { BlockPool } from "./block-pool.ts";

function takeAll(pool: BlockPool): string[] {
  const taken: string[] = [];
  for (let block = pool.take(); block !== undefined; block = pool.take()) taken.push(block);
  return taken;
}

test("gives each block once, in order, and then says that there is none", () => {
  const pool = new BlockPool({ range: "10.18.0.0/24", prefix: 26 });
  expect(takeAll(pool)).toEqual([
    "10.18.0.0/26",
    "10.18.0.64/26",
    "10.18.0.128/26",
    "10.18.0.192/26",
  ]);
});

test("every block can be returned and given again, the last of an octet too", () => {
  const pool = new BlockPool({ range: "10.18.0.0/24", prefix: 26 });
  const blocks = takeAll(pool);
  for (const block of blocks) {
    pool.release(span(block));
    expect(pool.take()).toBe(block);
  }
});

test("what was released is given again only after the others", () => {
  const pool = new BlockPool({ range: "10.18.0.0/24", prefix: 26 });
  const first = pool.take() ?? "";
  pool.release(span(first));
  expect(takeAll(pool).at(-1)).toBe(first);
});

test("a block that is asked for is had where it is one, and free", () => {
  const pool = new BlockPool({ range: "10.18.0.0/24", prefix: 26 });
  expect(pool.takeThis(span("10.18.0.64/26"))).toBe(true);
  for (const other of ["10.18.0.64/26", "10.18.0.0/25", "10.18.1.0/26", "fc00::/120"]) {
    expect(pool.takeThis(span(other))).toBe(false);
  }
  expect(takeAll(pool)).toEqual(["10.18.0.0/26", "10.18.0.128/26", "10.18.0.192/26"]);
});

test("a block is not given that an address of another's lies in", () => {
  const pool = new BlockPool({ range: "10.19.1.0/24", prefix: 26, reserved: ["10.19.1.254"] });
  expect(takeAll(pool)).not.toContain("10.19.1.192/26");
});

test("a claim wider than the range takes all of it, however many blocks that is", () => {
  const pool = new BlockPool({ range: "fc00::/16", prefix: 120 });
  pool.claim(span("fc00::/7"));
  expect(pool.take()).toBeUndefined();
  pool.release(span("fc00::/7"));
  expect(pool.take()).toBe("fc00::/120");
});

test("a claim wider than can be counted is passed over in one step", () => {
  const pool = new BlockPool({ range: "fc00::/16", prefix: 120 });
  pool.claim(span("fc00::/64"));
  expect(pool.take()).toBe("fc00:0:0:1::/120");
});

test("what does not fit is refused by name", () => {
  expect(() => new BlockPool({ range: "10.0.0.0/27", prefix: 26 })).toThrow(
    "blocks of /26 do not fit into 10.0.0.0/27; expected a prefix from 27 to 32",
  );
  expect(() => new BlockPool({ range: "ten", prefix: 26 })).toThrow('"ten" is no range');
});

type Step = { kind: "take" } | { kind: "claim"; text: string } | { kind: "release"; nth: number };

/** Does a step, and keeps `held` what is claimed. */
function doStep(pool: BlockPool, held: string[], step: Step): void {
  if (step.kind === "claim") {
    pool.claim(span(step.text));
    held.push(step.text);
  } else if (step.kind === "release") {
    const [gone] = held.splice(step.nth % Math.max(1, held.length), 1);
    if (gone !== undefined) pool.release(span(gone));
  } else {
    const block = pool.take();
    if (block === undefined) {
      expect(held).not.toEqual([]);
      return;
    }
    expect(held.filter((other) => overlap(span(other), span(block)))).toEqual([]);
    held.push(block);
  }
}

test("property: nothing is given twice or across a claim, and all of it comes back", () => {
  const network = fc
    .tuple(fc.integer({ min: 0, max: 255 }), fc.integer({ min: 24, max: 32 }))
    .map(([byte, prefix]) => `10.0.0.${byte}/${prefix}`);
  const step: fc.Arbitrary<Step> = fc.oneof(
    fc.constant({ kind: "take" as const }),
    network.map((text) => ({ kind: "claim" as const, text })),
    fc.nat().map((nth) => ({ kind: "release" as const, nth })),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const pool = new BlockPool({ range: "10.0.0.0/24", prefix: 28 });
      const held: string[] = [];
      for (const each of steps) doStep(pool, held, each);
      for (const each of held) pool.release(span(each));
      expect(takeAll(pool)).toHaveLength(16);
    }),
  );
});
