import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";

/** A program that a backend ran with something to read. */
interface ToolCall {
  readonly program: string;
  readonly args: readonly string[];
  readonly stdin: string;
}

const toolCallSchema: z.ZodType<ToolCall> = z.object({
  program: z.string(),
  args: z.array(z.string()),
  stdin: z.string(),
});

/** Keeps one in a folder. @param number its place among them */
export function writeToolCall(folder: string, number: number, call: ToolCall): void {
  writeFileSync(join(folder, String(number).padStart(4, "0")), JSON.stringify(call));
}

/** All that are kept in a folder, in the order in which they began. */
export function readToolCalls(folder: string): readonly ToolCall[] {
  const files = readdirSync(folder).sort();
  return files.map((file) =>
    toolCallSchema.parse(JSON.parse(readFileSync(join(folder, file), "utf8"))),
  );
}
