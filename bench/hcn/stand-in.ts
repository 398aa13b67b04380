import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import * as z from "zod";
import { Wine, windowsPath } from "../../test/windows/wine.ts";
import { type CallCounts, SYNCS } from "./measure-calls.ts";

const TASK = fileURLToPath(new URL("./tasks/on-the-stand-in.js", import.meta.url));
const LIMIT_MS = 180_000;

const schema: z.ZodType<CallCounts> = z.record(
  z.enum(SYNCS),
  z.object({ calls: z.number(), enumerations: z.number(), dllCalls: z.number() }),
);

/** Counts on the real calls, under Wine. */
export async function measureOnStandIn(): Promise<CallCounts> {
  const wine = await Wine.open();
  try {
    const out = join(wine.folder, "counts.json");
    const args = [windowsPath(TASK), windowsPath(out)];
    const { exitCode, stderr } = await wine.node(args, { limitMs: LIMIT_MS });
    if (exitCode !== 0) throw new Error(`Node under Wine ended with ${exitCode}: ${stderr}`);
    return schema.parse(JSON.parse(readFileSync(out, "utf8")));
  } finally {
    await wine.close();
  }
}
