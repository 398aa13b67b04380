/** What the objects of HCN have in common in their JSON: schema version 2.0, empty fields left out. */
import * as z from "zod";
import { CoreError } from "../../core/errors.ts";
import { canonicalIp } from "../../core/model/address.ts";
import { canonicalGuid } from "./guid.ts";

export const SCHEMA_VERSION = { Major: 2, Minor: 0 } as const;

/** A policy as HCN has it; what is not read stays as it came. */
export interface Policy {
  readonly type: string;
  readonly settings: unknown;
}

export interface Route {
  readonly nextHop: string;
  readonly destination: string;
  readonly metric: number;
}

export interface Dns {
  readonly domain: string;
  readonly search: readonly string[];
  readonly servers: readonly string[];
  readonly options: readonly string[];
}

export const NO_DNS: Dns = Object.freeze({ domain: "", search: [], servers: [], options: [] });

/** HNS sends null for what is empty. */
export function listOf<T>(item: z.ZodType<T>): z.ZodType<readonly T[]> {
  return z
    .array(item)
    .nullish()
    .transform((items) => items ?? []);
}

export const text: z.ZodType<string> = z
  .string()
  .nullish()
  .transform((value) => value ?? "");

export const number: z.ZodType<number> = z
  .number()
  .int()
  .nullish()
  .transform((value) => value ?? 0);

/** A GUID, or empty where there is none. */
export const guid: z.ZodType<string> = text.transform((value) => canonicalGuid(value) ?? value);

export const address: z.ZodType<string> = text.transform((value) => canonicalIp(value) ?? value);

export const policySchema: z.ZodType<Policy> = z
  .object({ Type: text, Settings: z.unknown() })
  .transform(({ Type, Settings }) => ({ type: Type, settings: Settings }));

export const routeSchema: z.ZodType<Route> = z
  .object({ NextHop: text, DestinationPrefix: text, Metric: number })
  .transform(({ NextHop, DestinationPrefix, Metric }) => ({
    nextHop: NextHop,
    destination: DestinationPrefix,
    metric: Metric,
  }));

export const dnsSchema: z.ZodType<Dns> = z
  .object({ Domain: text, Search: listOf(text), ServerList: listOf(text), Options: listOf(text) })
  .nullish()
  .transform((dns) =>
    dns
      ? { domain: dns.Domain, search: dns.Search, servers: dns.ServerList, options: dns.Options }
      : NO_DNS,
  );

export function policyJson({ type, settings }: Policy): object {
  return compact({ Type: type, Settings: settings });
}

export function routeJson({ nextHop, destination, metric }: Route): object {
  return compact({ NextHop: nextHop, DestinationPrefix: destination, Metric: metric });
}

export function dnsJson({ domain, search, servers, options }: Dns): object {
  return compact({ Domain: domain, Search: search, ServerList: servers, Options: options });
}

/** Without the fields that say nothing: "", 0, empty lists and objects. */
export function compact(fields: Readonly<Record<string, unknown>>): object {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => !isEmpty(value)));
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === null || value === "" || value === 0) return true;
  return typeof value === "object" && Object.keys(value).length === 0;
}

/**
 * Reads what HCN sent.
 * @param what an error calls it: `load balancer ID`
 * @throws CoreError ERR_SYSTEM_CALL
 */
export function parseHcn<T>(schema: z.ZodType<T>, json: string, what: string): T {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new CoreError("ERR_SYSTEM_CALL", `HCN answered no JSON for ${what}`, { cause: error });
  }
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new CoreError(
    "ERR_SYSTEM_CALL",
    `HCN answered for ${what} what is not of its schema: ${z.prettifyError(result.error)}`,
    { cause: result.error },
  );
}
