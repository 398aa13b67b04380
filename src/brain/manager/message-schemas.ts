import * as z from "zod";
import { parseHostPort } from "../../core/model/address.ts";
import {
  cidrSchema,
  ipSchema,
  keySchema,
  NO_STRINGS,
  portSchema,
  protocolSchema,
} from "../../core/model/common.ts";
import { isIdentityName } from "../identity/spiffe-id.ts";
import { isTunnelKey } from "../identity/tunnel-key.ts";
import {
  type CreateTokenRequest,
  type DeployRequest,
  type IdentifyRequest,
  type JoinRequest,
  MAX_ROUND_TRIPS,
  type ReconcileRequest,
  type RemoveNodeRequest,
  type RenewRequest,
  type RevokeTokenRequest,
  type TableRequest,
  type UndeployRequest,
} from "./messages.ts";

/** More of anything in one request is a mistake. */
const MAX_ITEMS = 64;
/** Of one node. */
const MAX_INSTANCES = 65_536;
const MAX_NAME = 253;
const MAX_KEY = 4096;
const DAY_MS = 86_400_000;
const MAX_ROUND_TRIP_MS = 3_600_000;
const MAX_TOKEN_MS = 366 * DAY_MS;

/** One of each family. */
const MAX_SUBNETS = 2;

const addresses = z.array(ipSchema).max(MAX_ITEMS);
const zone = z.string().max(MAX_NAME);
const labels = z.record(z.string().max(MAX_NAME), z.string().max(1024));
const tunnel = z.strictObject({
  address: z
    .string()
    .refine((text) => parseHostPort(text) !== undefined, "HOST:PORT, such as 192.0.2.1:50103"),
  publicKey: z
    .string()
    .refine((text) => text === "" || isTunnelKey(text), "32 bytes in base64, or nothing")
    .default(""),
});

const roundTripsMs = z
  .record(z.string().max(MAX_NAME), z.number().min(0).max(MAX_ROUND_TRIP_MS))
  .refine((all) => Object.keys(all).length <= MAX_ROUND_TRIPS, `at most ${MAX_ROUND_TRIPS} nodes`);

const serviceIdentity = keySchema.refine(
  (key) => key.split("/").every(isIdentityName),
  'NAMESPACE/NAME of letters, digits, ".", "_" and "-"',
);

export const joinSchema: z.ZodType<JoinRequest> = z.strictObject({
  token: z.string().max(1024),
  node: z.string().refine(isIdentityName, 'a name of letters, digits, ".", "_" and "-"'),
  publicKey: z.string().max(MAX_KEY),
  addresses: addresses.default([]),
  zone: zone.default(""),
  labels: labels.default(NO_STRINGS),
  tunnel: tunnel.optional(),
  subnets: z.array(cidrSchema).max(MAX_SUBNETS).optional(),
});

export const renewSchema: z.ZodType<RenewRequest> = z.strictObject({
  addresses: addresses.optional(),
  zone: zone.optional(),
  labels: labels.optional(),
  tunnel: tunnel.optional(),
  roundTripsMs: roundTripsMs.optional(),
  wantsCertificate: z.boolean().default(false),
});

const instanceFields = { service: keySchema, instance: z.int().min(0).max(2_147_483_647) };

export const deploySchema: z.ZodType<DeployRequest> = z.strictObject({
  ...instanceFields,
  addresses: z.array(ipSchema).min(1).max(2),
  ports: z
    .array(
      z.strictObject({
        name: z.string().max(63).default(""),
        protocol: protocolSchema.default("TCP"),
        port: portSchema,
      }),
    )
    .max(MAX_ITEMS)
    .optional(),
  ready: z.boolean().default(true),
  weight: z.int().min(0).max(65_535).default(1),
  needs: z.array(keySchema).max(MAX_ITEMS).default([]),
  labels: labels.default(NO_STRINGS),
  edgeIPs: z
    .array(
      z.strictObject({
        address: ipSchema,
        policy: z.enum(["round-robin", "closest", "instance"]),
      }),
    )
    .max(MAX_ITEMS)
    .default([]),
});

export const undeploySchema: z.ZodType<UndeployRequest> = z.strictObject(instanceFields);

export const reconcileSchema: z.ZodType<ReconcileRequest> = z.strictObject({
  instances: z.array(z.strictObject(instanceFields)).max(MAX_INSTANCES),
});

export const tableSchema: z.ZodType<TableRequest> = z.strictObject({
  query: z.string().min(1).max(512),
});

export const createTokenSchema: z.ZodType<CreateTokenRequest> = z
  .strictObject({
    lifetimeMs: z.int().min(1).max(MAX_TOKEN_MS).default(DAY_MS),
    uses: z.int().min(-1).max(1_000_000).default(-1),
    note: z.string().max(MAX_NAME).default(""),
    service: z.union([z.literal(""), serviceIdentity]).default(""),
  })
  .refine(({ uses, service }) => service === "" || uses === -1, {
    path: ["uses"],
    message: "any number for a service, which shows its token at each renewal",
  });

export const identifySchema: z.ZodType<IdentifyRequest> = z.strictObject({
  token: z.string().max(1024),
  service: serviceIdentity,
  publicKey: z.string().max(MAX_KEY),
});

export const revokeTokenSchema: z.ZodType<RevokeTokenRequest> = z.strictObject({
  id: z.string().max(64),
});

export const removeNodeSchema: z.ZodType<RemoveNodeRequest> = z.strictObject({
  node: z.string().max(MAX_NAME),
});

export const nothingSchema: z.ZodType<object> = z.strictObject({});
