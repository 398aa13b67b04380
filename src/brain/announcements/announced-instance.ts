import * as z from "zod";
import { formatHostPort } from "../../core/model/address.ts";
import { ipSchema, keySchema, portSchema } from "../../core/model/common.ts";
import type { Endpoint } from "../../core/model/endpoint.ts";
import { parseKind } from "../../core/model/parse.ts";

/** A port of some machine that serves for a service. */
export interface AnnouncedInstance {
  /** NAMESPACE/NAME. */
  readonly service: string;
  /** Name of the service's port; empty where it has one only. */
  readonly servicePort: string;
  readonly zone: string;
  readonly node: string;
  readonly address: string;
  readonly port: number;
  readonly weight: number;
}

export interface WithdrawRequest {
  /** Of who announced it: another one may have taken its place meanwhile. */
  readonly id: string;
  /** NAMESPACE/NAME. */
  readonly service: string;
  readonly address: string;
  readonly port: number;
}

export interface AnnounceRequest extends AnnouncedInstance {
  readonly id: string;
  /** It goes where it is not announced again for so long. */
  readonly ttlMs: number;
}

const MAX_NAME = 253;
export const MIN_TTL_MS = 1000;
const MAX_TTL_MS = 3_600_000;

const place = {
  id: z.string().min(8).max(64),
  service: keySchema,
  address: ipSchema,
  port: portSchema,
};

export const announceSchema: z.ZodType<AnnounceRequest> = z.strictObject({
  ...place,
  servicePort: z.string().max(63).default(""),
  zone: z.string().max(MAX_NAME).default(""),
  node: z.string().max(MAX_NAME).default(""),
  weight: z.int().min(0).max(65_535).default(10),
  ttlMs: z.int().min(MIN_TTL_MS).max(MAX_TTL_MS),
});

export const withdrawSchema: z.ZodType<WithdrawRequest> = z.strictObject(place);

/** The endpoint that an instance is, known by its address. */
export function announcedEndpoint(instance: AnnouncedInstance): Endpoint {
  const { service, servicePort, zone, node, address, port, weight } = instance;
  const slash = service.indexOf("/");
  return parseKind("Endpoint", {
    namespace: service.slice(0, slash),
    group: service.slice(slash + 1),
    name: formatHostPort(address, port),
    addresses: [address],
    ports: [{ name: servicePort, port }],
    zone,
    node,
    weight,
  });
}
