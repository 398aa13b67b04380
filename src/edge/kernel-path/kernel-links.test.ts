import { expect, test } from "vitest";
import { CoreError } from "../../core/errors.ts";
import { KernelLinks, UNUSED_MS } from "./kernel-links.ts";

function world() {
  const done: string[] = [];
  const told: string[] = [];
  const tell = (_fields: object, message: string): void => {
    told.push(message);
  };
  const clock = { nowMs: 0 };
  const links = new KernelLinks({
    attach: (link) => {
      if (link === 9) throw new CoreError("ERR_SYSTEM_CALL", "no");
      done.push(`attach ${link}`);
      return () => done.push(`detach ${link}`);
    },
    nowMs: () => clock.nowMs,
    log: { debug: tell, info: tell, warn: tell, error: tell },
  });
  return { done, told, clock, links };
}

test("a link is attached once, and let go of when it was not needed for a while", () => {
  const { done, clock, links } = world();
  for (const link of [3, 3, 4]) links.need(link);
  clock.nowMs = UNUSED_MS - 1;
  links.need(4);
  links.review();
  expect(done).toEqual(["attach 3", "attach 4"]);
  clock.nowMs = UNUSED_MS;
  links.review();
  expect(done.slice(2)).toEqual(["detach 3"]);
  links.close();
  expect(done.slice(3)).toEqual(["detach 4"]);
});

test("one that can not be attached is told once, and not tried for each peer", () => {
  const { told, links } = world();
  for (let tries = 0; tries < 3; tries += 1) links.need(9);
  expect(told).toHaveLength(1);
});
