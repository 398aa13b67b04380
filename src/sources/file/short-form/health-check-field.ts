import * as z from "zod";
import { durationField } from "./fields.ts";

const protocol = z.enum(["none", "tcp", "tcpDelay", "http", "dns"]);

const bound = z.int().min(1).max(100).optional();

const healthCheckObject = z
  .strictObject({
    protocol,
    timeout: durationField.optional(),
    interval: durationField.optional(),
    up: bound,
    down: bound,
    http: z
      .strictObject({
        method: z.string().optional(),
        path: z.string().startsWith("/").optional(),
        host: z.string().optional(),
        status: z.array(z.string()).optional(),
      })
      .optional(),
    dnsName: z.string().optional(),
  })
  .transform(({ timeout, interval, ...check }) => ({
    ...check,
    timeoutMs: timeout,
    intervalMs: interval,
  }));

/** A health check as the model has it, without what is left to its defaults: a protocol, or more. */
export const healthCheckField: z.ZodType<object> = z.union([
  protocol.transform((name) => ({ protocol: name })),
  healthCheckObject,
]);
