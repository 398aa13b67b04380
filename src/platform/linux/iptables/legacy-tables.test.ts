import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { readLegacyTables } from "./legacy-tables.ts";

function folder(): string {
  const path = mkdtempSync(join(tmpdir(), "portolan-tables-"));
  onTestFinished(() => rmSync(path, { recursive: true }));
  return path;
}

test("reads a name a line", () => {
  const path = join(folder(), "ip_tables_names");
  writeFileSync(path, "filter\nnat\n");
  expect(readLegacyTables("v4", path)).toEqual(["filter", "nat"]);
  writeFileSync(path, "");
  expect(readLegacyTables("v4", path)).toEqual([]);
});

test("a kernel without such tables has none", () => {
  expect(readLegacyTables("v6", join(folder(), "ip6_tables_names"))).toEqual([]);
});

test("where they are, but can not be read, that is no answer of none", () => {
  // A folder is there, and can not be read as a file, whoever asks.
  expect(() => readLegacyTables("v4", folder())).toThrow(
    expect.objectContaining({
      code: "ERR_SYSTEM_CALL",
      message: expect.stringContaining("EISDIR"),
      cause: expect.anything(),
    }),
  );
});
