import { expect, test } from "vitest";
import { EntityTags } from "./entity-tags.ts";

const tags = new EntityTags();

test("a tag names the body that it was made for", () => {
  const tag = tags.of(7, "body");
  expect(tag).toMatch(/^"[\w.-]+"$/);
  expect(tags.isNamed(tag, tags.of(7, "body"))).toBe(true);
  expect(tags.isNamed(`"x", W/${tag}`, tag)).toBe(true);
  expect(tags.isNamed("*", tag)).toBe(true);
  expect(tags.isNamed(tag, tags.of(7, "other"))).toBe(false);
  expect(tags.isNamed(tag, tags.of(8, "body"))).toBe(false);
});

test("for a change only the revision counts", () => {
  const tag = tags.of(7, "with counters that move");
  expect(tags.isCurrent(tag, 7)).toBe(true);
  expect(tags.isCurrent(`"x" , ${tag}`, 7)).toBe(true);
  expect(tags.isCurrent("*", 7)).toBe(true);
  expect(tags.isCurrent(tag, 8)).toBe(false);
  expect(tags.isCurrent(`W/${tag}`, 7)).toBe(false);
  expect(tags.isCurrent("", 7)).toBe(false);
});

test("a tag of another start is not current", () => {
  expect(new EntityTags().isCurrent(tags.of(7, "body"), 7)).toBe(false);
});
