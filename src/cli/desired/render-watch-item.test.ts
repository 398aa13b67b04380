import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { NO_PAINT } from "../text/paint.ts";
import { objectOf, renderWatchItem } from "./render-watch-item.ts";

const BEFORE = parseKind("Group", { name: "g" });
const AFTER = parseKind("Group", { name: "g", method: "random" });
const CHANGED = {
  event: "changed",
  kind: "Group",
  key: "default/g",
  owner: "control",
  revision: 4,
} as const;

test("what is there, that it is all, and then changes", () => {
  const lines = [
    { event: "present", owner: "file", object: BEFORE, revision: 3 } as const,
    { event: "synced", revision: 3 } as const,
    { ...CHANGED, action: "update", before: BEFORE, after: AFTER } as const,
    { ...CHANGED, action: "delete", before: AFTER } as const,
  ].flatMap((item) => renderWatchItem(item, NO_PAINT));
  expect(lines).toEqual([
    "= Group default/g (file)",
    "# that is all at revision 3; now what changes",
    "~ Group default/g (control)",
    "    method: weighted-round-robin -> random",
    "- Group default/g (control)",
  ]);
});

test("an item is about what it became, or what it was", () => {
  expect(objectOf({ ...CHANGED, action: "update", before: BEFORE, after: AFTER })).toBe(AFTER);
  expect(objectOf({ ...CHANGED, action: "delete", before: BEFORE })).toBe(BEFORE);
  expect(objectOf({ event: "synced", revision: 1 })).toBeUndefined();
});
