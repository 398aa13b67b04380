import { expect, test } from "vitest";
import { parseKind } from "../../core/model/parse.ts";
import { NO_PAINT, TERMINAL_PAINT } from "../text/paint.ts";
import { renderChange, renderChanges } from "./render-changes.ts";

const SERVER = { name: "a", group: "web", addresses: ["10.0.0.1"], ports: [{ port: 80 }] };

test("what is created, updated field by field, and deleted; then how many", () => {
  const before = parseKind("Endpoint", SERVER);
  const after = parseKind("Endpoint", {
    ...SERVER,
    addresses: ["10.0.0.2"],
    zone: "b",
    labels: { tier: "gold one" },
    weight: 5,
  });
  const text = renderChanges(
    [
      { action: "create", kind: "Service", key: "default/web" },
      { action: "update", kind: "Endpoint", key: "default/web/a", before, after },
      { action: "delete", kind: "Listener", key: "default/old" },
    ],
    NO_PAINT,
  );
  expect(text).toBe(`+ Service default/web
~ Endpoint default/web/a
    labels.tier: (none) -> "gold one"
    addresses: [10.0.0.1] -> [10.0.0.2]
    zone: "" -> b
    weight: 1 -> 5
- Listener default/old
3 changes: 1 created, 1 updated, 1 deleted
`);
});

test("nothing to do is said", () => {
  expect(renderChanges([], NO_PAINT)).toBe("nothing differs\n");
});

test("secrets stay hidden, also inside of what is new", () => {
  const before = parseKind("Group", { name: "g" });
  const after = parseKind("Group", {
    name: "g",
    annotations: { "api-token": "hunter2", note: "-----BEGIN PRIVATE KEY-----" },
  });
  const lines = renderChange(
    { action: "update", kind: "Group", key: "default/g", before, after },
    NO_PAINT,
  );
  expect(lines.join("\n")).not.toMatch(/hunter2|BEGIN/);
  expect(lines).toContain("    annotations.api-token: (none) -> (hidden)");
});

test("colours of a terminal", () => {
  const change = { action: "create", kind: "Service", key: "default/web" } as const;
  expect(renderChange(change, TERMINAL_PAINT)).toEqual([
    "\u001b[32m+ Service default/web\u001b[39m",
  ]);
});
