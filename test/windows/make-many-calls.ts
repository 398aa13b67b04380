import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import * as z from "zod";
import { type Wine, windowsPath } from "./wine.ts";

const SCRIPT = join(import.meta.dirname, "many-calls.mjs");
/** Of ten calls four hand out a text: what was found, a list, a version, why it was refused. */
const TEXTS = 0.4;
/** The texts that a run of 10,000 handles are 40 MB. */
const MOST_MEGABYTES = 10;

const schema = z.object({
  megabytes: z.array(z.number()),
  freed: z.number(),
  handles: z.number(),
});

/** Makes so many calls through the real bindings, and expects that nothing is left of them. */
export async function makeManyCalls(wine: Wine, count: number, limitMs: number): Promise<void> {
  const outFile = join(wine.folder, "many-calls.json");
  const args = ["--expose-gc", windowsPath(SCRIPT), windowsPath(outFile), String(count)];
  const { exitCode, stderr } = await wine.node(args, { limitMs });
  expect([stderr, exitCode]).toEqual(["", 0]);
  const { megabytes, freed, handles } = schema.parse(JSON.parse(readFileSync(outFile, "utf8")));
  expect(handles).toBe(0);
  expect(freed).toBeGreaterThanOrEqual(count * TEXTS);
  // The first fifth fills caches.
  const [warm = 0] = megabytes.slice(1);
  const grown = Math.max(...megabytes.slice(2)) - warm;
  expect(grown, `megabytes: ${megabytes.join()}`).toBeLessThan(MOST_MEGABYTES);
}
