import * as z from "zod";
import {
  cidrSchema,
  ipSchema,
  optionalPortSchema,
  portSchema,
  protocolSchema,
} from "../../../core/model/common.ts";
import { methodSchema, routeHintsSchema } from "../../../core/model/group.ts";
import { peerPatternSchema } from "../../../core/model/peer-pattern-schema.ts";
import { durationField, metadata, oneOrMany, portTextField, referenceField } from "./fields.ts";
import { healthCheckField } from "./health-check-field.ts";
import { listenSchema } from "./listen-schema.ts";
import { serverSchema } from "./server-schema.ts";
import type { ShortGroup, ShortGroupRef, ShortPort, ShortService } from "./short-form.ts";

const DEFAULT_AFFINITY_MS = 10_800_000;

const balancing = {
  method: methodSchema.optional(),
  healthCheck: healthCheckField.optional(),
  slowStart: durationField.optional(),
  hints: routeHintsSchema.optional(),
  tls: z
    .strictObject({
      certificate: referenceField,
      peers: oneOrMany(peerPatternSchema),
    })
    .optional(),
  servers: oneOrMany(serverSchema).default([]),
};

const portObject = z.strictObject({
  name: z.string().default(""),
  protocol: protocolSchema.default("TCP"),
  port: portSchema,
  nodePort: optionalPortSchema.optional(),
  targetPort: z.union([portSchema, z.string().min(1)]).optional(),
});

const portField: z.ZodType<ShortPort> = z.union([
  portSchema.transform((port) => ({ name: "", protocol: "TCP" as const, port })),
  portTextField,
  portObject,
]);

const edgeField = z.union([
  ipSchema.transform((address) => ({ address })),
  z.strictObject({
    address: ipSchema,
    policy: z.enum(["round-robin", "closest", "instance"]).optional(),
    instance: z.int().min(0).optional(),
  }),
]);

const groupRefField: z.ZodType<ShortGroupRef> = z.union([
  referenceField.transform((name) => ({ name })),
  z.strictObject({
    name: referenceField,
    weight: z.int().min(0).max(65_535).optional(),
    hints: routeHintsSchema.optional(),
  }),
]);

/** In milliseconds; `true` is Kubernetes' default of three hours. */
const affinityField = z.union([
  z.boolean().transform((on) => (on ? DEFAULT_AFFINITY_MS : 0)),
  durationField,
]);

export const serviceSchema: z.ZodType<ShortService> = z.strictObject({
  ...metadata,
  ...balancing,
  type: z.enum(["ClusterIP", "NodePort", "LoadBalancer", "Plain"]).optional(),
  listen: oneOrMany(listenSchema).default([]),
  clusterIPs: oneOrMany(ipSchema).default([]),
  externalIPs: oneOrMany(ipSchema).default([]),
  loadBalancerIPs: oneOrMany(ipSchema).default([]),
  edgeIPs: oneOrMany(edgeField).default([]),
  ports: oneOrMany(portField).default([]),
  groups: oneOrMany(groupRefField).default([]),
  internalTrafficPolicy: z.enum(["Cluster", "Local"]).optional(),
  externalTrafficPolicy: z.enum(["Cluster", "Local"]).optional(),
  affinity: affinityField.default(0),
  sourceRanges: oneOrMany(cidrSchema).default([]),
  healthCheckNodePort: portSchema.optional(),
  trafficDistribution: z.string().optional(),
});

export const groupSchema: z.ZodType<ShortGroup> = z.strictObject({ ...metadata, ...balancing });
