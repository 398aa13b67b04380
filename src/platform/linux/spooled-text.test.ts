import { closeSync, readdirSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { expect, onTestFinished, test, vi } from "vitest";
import { spoolText } from "./spooled-text.ts";

test("a text is read from its beginning, and its file is nowhere to be found", () => {
  const before = readdirSync(tmpdir()).filter((name) => name.startsWith("portolan-"));
  const descriptor = spoolText("für alle\n".repeat(100_000));
  if (descriptor === undefined) throw new Error("there is no room for a file");
  onTestFinished(() => closeSync(descriptor));
  const after = readdirSync(tmpdir()).filter((name) => name.startsWith("portolan-"));
  expect(after.filter((name) => !before.includes(name) && /-[0-9a-f]{4}-/.test(name))).toEqual([]);
  expect(readFileSync(descriptor, "utf8")).toBe("für alle\n".repeat(100_000));
});

test.each(["/nowhere/at/all", "/dev/null"])(
  "where no file can be had (%s) there is none",
  (folder) => {
    vi.stubEnv("TMPDIR", folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    expect(spoolText("text")).toBeUndefined();
  },
);
