import * as z from "zod";
import { FAMILIES } from "../../../core/model/address.ts";
import { nameSchema, portSchema } from "../../../core/model/common.ts";
import { metadata, oneOrMany, referenceField, serverAddressField } from "./fields.ts";
import type { ServerAddress, ShortServer } from "./short-form.ts";

const serverObject = z
  .strictObject({
    ...metadata,
    address: oneOrMany(serverAddressField).refine(
      isOneServer,
      "addresses that mean the same server: all with one port, or a single host name or unix socket",
    ),
    name: nameSchema.optional(),
    families: oneOrMany(z.enum(FAMILIES)).optional(),
    ports: z.record(z.string(), portSchema).default({}),
    weight: z.int().min(0).max(65_535).optional(),
    node: z.string().optional(),
    zone: z.string().optional(),
    forZones: z.array(z.string()).optional(),
    forNodes: z.array(z.string()).optional(),
    ready: z.boolean().optional(),
    serving: z.boolean().optional(),
    terminating: z.boolean().optional(),
    instance: z.int().min(0).optional(),
    needs: oneOrMany(referenceField).default([]),
    podName: z.string().optional(),
  })
  .transform(({ address, forZones, forNodes, ...server }) => ({
    ...server,
    at: address,
    topology: forZones || forNodes ? { zones: forZones ?? [], nodes: forNodes ?? [] } : undefined,
  }));

/** The addresses of a server: one, or one of each family, or a name. */
function isOneServer(addresses: readonly ServerAddress[]): boolean {
  const ports = new Set(addresses.map((address) => address.port));
  const hasName = addresses.some((address) => address.isName);
  return ports.size === 1 && (addresses.length === 1 || !hasName);
}

/** A server: `HOST:PORT`, or an object that says more. */
export const serverSchema: z.ZodType<ShortServer> = z.union([
  serverAddressField.transform((address) => ({ at: [address], ports: {}, needs: [] })),
  serverObject,
]);
