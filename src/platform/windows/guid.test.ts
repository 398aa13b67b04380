import { expect, test } from "vitest";
import { canonicalGuid, isOwnGuid, ownGuid } from "./guid.ts";

test("an id of ours is a GUID of version 8, the same for the same name, and known again", () => {
  const id = ownGuid("endpoint 10.0.0.1");
  expect(id).toMatch(/^706f7274-6f6c-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(ownGuid("endpoint 10.0.0.1")).toBe(id);
  expect(ownGuid("endpoint 10.0.0.2")).not.toBe(id);
  expect(isOwnGuid(id)).toBe(true);
  expect(isOwnGuid("0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11")).toBe(false);
});

test("ids have one spelling", () => {
  const upper = "{0F5F6E1C-0F5E-4D5C-9F0A-2B7E8F9D1C11}";
  expect(canonicalGuid(upper)).toBe("0f5f6e1c-0f5e-4d5c-9f0a-2b7e8f9d1c11");
  expect(canonicalGuid("10.0.0.1")).toBeUndefined();
});
