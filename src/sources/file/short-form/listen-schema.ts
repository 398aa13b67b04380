import * as z from "zod";
import { cidrSchema, nameSchema } from "../../../core/model/common.ts";
import { modeSchema, proxyProtocolSchema, resolverSchema } from "../../../core/model/listener.ts";
import { peerPatternSchema } from "../../../core/model/peer-pattern-schema.ts";
import {
  durationField,
  listenAddressField,
  metadata,
  oneOrMany,
  referenceField,
} from "./fields.ts";
import type { ShortListen } from "./short-form.ts";

const tls = z.union([
  referenceField.transform((certificate) => ({ certificates: [certificate] })),
  z.strictObject({
    certificates: oneOrMany(referenceField),
    clientCaFile: z.string().optional(),
    peers: oneOrMany(peerPatternSchema).optional(),
  }),
]);

const listenObject = z
  .strictObject({
    ...metadata,
    address: listenAddressField,
    name: nameSchema.optional(),
    mode: modeSchema.default("tcp"),
    servicePort: z.string().optional(),
    tls: tls.optional(),
    proxyProtocol: proxyProtocolSchema.optional(),
    securityGroup: referenceField.optional(),
    idleTimeout: durationField.optional(),
    connectTimeout: durationField.optional(),
    inBufferBytes: z.int().min(512).max(16_777_216).optional(),
    outBufferBytes: z.int().min(512).max(16_777_216).optional(),
    acceptLoops: z.string().optional(),
    workLoops: z.string().optional(),
    fallsBack: z.boolean().optional(),
    allowOthers: z.boolean().optional(),
    usersFile: z.string().optional(),
    trustedHops: oneOrMany(cidrSchema).optional(),
    hostsFile: z.string().optional(),
    forwardTo: oneOrMany(resolverSchema).optional(),
    dnsTtl: durationField.optional(),
    node: z.string().optional(),
  })
  .transform(({ address, ...listen }) => ({ ...listen, at: address }));

/** A listen address, or an object that says more of it. */
export const listenSchema: z.ZodType<ShortListen> = z.union([
  listenAddressField.transform((at) => ({ at, mode: "tcp" as const })),
  listenObject,
]);
