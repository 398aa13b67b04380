import * as z from "zod";
import type { Cell, Result } from "../../control/result.ts";

export interface CommandParams {
  /** As it is typed at the console. */
  readonly line: string;
  /** Who gives it, for the audit; the console where it is missing. */
  readonly from?: string | undefined;
}

export interface CommandResult {
  readonly result: Result;
}

export interface CompleteParams {
  readonly line: string;
}

export interface CompleteResult {
  /** What could stand at the end of the line, whole words. */
  readonly words: readonly string[];
}

/** A line of the log, or that a server's health has changed. */
export interface EventItem {
  readonly level: "debug" | "info" | "warn" | "error";
  readonly message: string;
  /** Whose command it tells of, as they gave themselves; missing where it is about something else. */
  readonly from?: string | undefined;
}

export interface SupportResult {
  readonly files: readonly { readonly name: string; readonly text: string }[];
}

const cell: z.ZodType<Cell> = z.union([
  z.string(),
  z.number(),
  z.boolean(),
  z.array(z.string()),
  z.record(z.string(), z.string()),
]);

const result: z.ZodType<Result> = z.discriminatedUnion("kind", [
  z.object({ kind: z.literal("done"), note: z.string() }),
  z.object({ kind: z.literal("names"), names: z.array(z.string()) }),
  z.object({ kind: z.literal("records"), records: z.array(z.record(z.string(), cell)) }),
  z.object({ kind: z.literal("number"), value: z.number() }),
  z.object({ kind: z.literal("text"), text: z.string() }),
]);

export const commandParams: z.ZodType<CommandParams> = z.strictObject({
  line: z.string(),
  from: z.string().max(200).optional(),
});

export const commandResult: z.ZodType<CommandResult> = z.object({ result });

export const completeParams: z.ZodType<CompleteParams> = z.strictObject({ line: z.string() });

export const completeResult: z.ZodType<CompleteResult> = z.object({ words: z.array(z.string()) });

export const eventItem: z.ZodType<EventItem> = z.object({
  level: z.enum(["debug", "info", "warn", "error"]),
  message: z.string(),
  from: z.string().optional(),
});

export const supportResult: z.ZodType<SupportResult> = z.object({
  files: z.array(z.object({ name: z.string(), text: z.string() })),
});
