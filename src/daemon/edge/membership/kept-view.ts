import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import { ipSchema } from "../../../core/model/common.ts";
import type { RemoteView } from "../../../edge/overlay/directory.ts";
import { readTextFile, replaceTextFile } from "../../private-files.ts";
import { parseJson } from "./kept-membership.ts";

/** What a node goes on with when it starts and no manager answers. */
export interface KeptView {
  /** Instances that the manager was told of: `default/web#0`. */
  readonly announced: readonly string[];
  /** Keys of the services that it follows, beside those that run here. */
  readonly interest: readonly string[];
  readonly view: RemoteView;
}

const NAME = "view.json";
const MAX_BYTES = 256 * 1024 * 1024;

const schema: z.ZodType<KeptView> = z.object({
  announced: z.array(z.string()),
  interest: z.array(z.string()),
  view: z.object({
    services: z.array(
      z.object({
        key: z.string(),
        names: z.array(z.string()),
        addresses: z.array(
          z.object({
            address: ipSchema,
            policy: z.enum(["round-robin", "closest", "instance"]),
            instance: z.number(),
          }),
        ),
        instances: z.array(
          z.object({
            number: z.number(),
            node: z.string(),
            addresses: z.array(ipSchema),
            weight: z.number(),
            ports: z
              .array(z.object({ protocol: z.enum(["tcp", "udp"]), port: z.number() }))
              .default([]),
          }),
        ),
      }),
    ),
    peers: z.array(
      z.object({
        node: z.string(),
        endpoint: z
          .object({ family: z.enum(["v4", "v6"]), ip: ipSchema, port: z.number() })
          .optional(),
        subnets: z.array(z.string()),
        publicKey: z.string().optional(),
        modes: z.array(z.enum(["secure", "fast", "compat"])),
      }),
    ),
    ingress: z
      .array(
        z.object({
          protocol: z.enum(["tcp", "udp"]),
          address: ipSchema,
          port: z.number(),
          to: ipSchema,
          toPort: z.number(),
          guard: z
            .object({
              entries: z.array(
                z.object({ network: z.string(), access: z.enum(["allow", "deny"]) }),
              ),
              otherwise: z.enum(["allow", "deny"]),
            })
            .optional(),
        }),
      )
      .optional(),
  }),
});

/** Undefined where there is none that can be read: the manager tells it all again. */
export async function readView(folder: string): Promise<KeptView | undefined> {
  const path = join(folder, NAME);
  if (!existsSync(path)) return undefined;
  const read = schema.safeParse(parseJson(await readTextFile(path, MAX_BYTES)));
  return read.success ? read.data : undefined;
}

export async function keepView(folder: string, kept: KeptView): Promise<void> {
  await replaceTextFile(join(folder, NAME), `${JSON.stringify(kept)}\n`);
}
