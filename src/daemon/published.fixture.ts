import { readFileSync, writeFileSync } from "node:fs";
import { expect } from "vitest";

const ROOT = new URL("../../", import.meta.url);

/** A file of the repository must say what the code says. PORTOLAN_REGENERATE=1 writes it first. */
export function expectPublished(path: string, text: string): void {
  const file = new URL(path, ROOT);
  if (process.env["PORTOLAN_REGENERATE"] === "1") writeFileSync(file, text);
  expect(readFileSync(file, "utf8")).toBe(text);
}
