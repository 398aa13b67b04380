import * as z from "zod";

/** What a server tells who calls it. */
export interface Greeting {
  /** Where it was called. */
  readonly at: string;
  readonly port: number;
  /** Whom it saw calling. */
  readonly source: string;
  readonly sourcePort: number;
  /** Whether it stands where packets end that no service has to do with. */
  readonly isCatcher: boolean;
}

const greetingSchema: z.ZodType<Greeting> = z.object({
  at: z.string(),
  port: z.number(),
  source: z.string(),
  sourcePort: z.number(),
  isCatcher: z.boolean(),
});

export function renderGreeting(greeting: Greeting): string {
  return JSON.stringify(greeting);
}

export function parseGreeting(text: string): Greeting {
  return greetingSchema.parse(JSON.parse(text));
}
