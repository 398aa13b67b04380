import { expect, test } from "vitest";
import { backendOptionGroups } from "./backend-option-groups.ts";

test("an option that several backends have stands once, with all of them", () => {
  const shared = { kind: "boolean", help: "of both" } as const;
  const own = { kind: "boolean", help: "of one" } as const;
  const groups = backendOptionGroups([
    { name: "a", options: { own, shared } },
    { name: "b", options: { shared } },
    { name: "c", options: {} },
  ]);
  expect(groups).toEqual([
    { title: "Backend a", specs: { own } },
    { title: "Backends a, b", specs: { shared } },
  ]);
});
