import * as z from "zod";
import {
  parseDurationMs,
  parseListen,
  parsePortRange,
  parsePortText,
  parseRule,
  parseServer,
} from "./notations.ts";
import type { ListenAddress, ServerAddress, ShortPort, ShortRule } from "./short-form.ts";

/** A field that is written in a notation of its own: `parse` reads it, `expected` says what is right. */
function notation<I extends z.ZodType, T>(
  input: I,
  parse: (value: z.output<I>) => T | undefined,
  expected: string,
): z.ZodType<T> {
  return input
    .transform((value, context) => {
      const parsed = parse(value);
      if (parsed !== undefined) return parsed;
      context.addIssue({ code: "custom", message: expected });
      return z.NEVER;
    })
    .meta({ description: expected });
}

const textOrNumber = z.union([z.string(), z.number()]);

export const listenAddressField: z.ZodType<ListenAddress> = notation(
  textOrNumber,
  parseListen,
  "IP:PORT, PORT (on loopback) or unix:/PATH",
);

export const serverAddressField: z.ZodType<ServerAddress> = notation(
  z.string(),
  parseServer,
  "HOST:PORT or HOST, an address or a name, or unix:/PATH",
);

/** In milliseconds. */
export const durationField: z.ZodType<number> = notation(
  z.string(),
  parseDurationMs,
  "a duration such as 500ms, 5s, 10m or 3h",
);

export const portRangeField: z.ZodType<{ minPort: number; maxPort: number }> = notation(
  textOrNumber,
  parsePortRange,
  "a port from 1 to 65535, or a range such as 8000-8100",
);

export const portTextField: z.ZodType<ShortPort> = notation(
  z.string(),
  parsePortText,
  "a port from 1 to 65535, or one with its protocol such as 53/udp",
);

export const ruleTextField: z.ZodType<ShortRule> = notation(
  z.string(),
  parseRule,
  "a rule such as allow 10.0.0.0/8",
);

/** A name in the same namespace, or in another. */
export const referenceField: z.ZodType<string> = z
  .string()
  .regex(/^[^\s/]{1,253}(?:\/[^\s/]{1,253})?$/, "NAME or NAMESPACE/NAME");

/** A list, or its only entry. */
export function oneOrMany<T>(entry: z.ZodType<T>): z.ZodType<T[]> {
  return z.union([z.array(entry), entry.transform((value) => [value])]);
}

export const metadata: {
  readonly labels: z.ZodType<Record<string, string> | undefined>;
  readonly annotations: z.ZodType<Record<string, string> | undefined>;
} = {
  labels: z.record(z.string(), z.string()).optional(),
  annotations: z.record(z.string(), z.string()).optional(),
};
