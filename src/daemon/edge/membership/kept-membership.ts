import { existsSync } from "node:fs";
import { join } from "node:path";
import * as z from "zod";
import type { NodeTerms } from "../../../brain/manager/messages.ts";
import { CoreError } from "../../../core/errors.ts";
import { readTextFile, replaceTextFile } from "../../private-files.ts";

/** What a node knows of the edge that it has joined. Its certificate and key are files beside it. */
export interface Membership {
  readonly version: 2;
  /** What people said, `HOST:PORT`; the first one is asked first. */
  readonly managers: readonly string[];
  /** What managers said of each other. */
  readonly told: readonly string[];
  readonly terms: NodeTerms;
}

const FOLDER = "membership";
const NAME = "membership.json";
const MAX_BYTES = 1_048_576;

const termsSchema: z.ZodType<NodeTerms> = z.object({
  node: z.string(),
  subnets: z.array(z.string()),
  serviceRanges: z.array(z.string()),
  renewEveryMs: z.number().min(1),
  timeoutMs: z.number().min(1),
  managers: z.array(z.string()).default([]),
});

const schema: z.ZodType<Membership> = z.union([
  z.strictObject({
    version: z.literal(2),
    managers: z.array(z.string()).min(1),
    told: z.array(z.string()),
    terms: termsSchema,
  }),
  z
    .strictObject({ version: z.literal(1), manager: z.string(), terms: termsSchema })
    .transform(
      ({ manager, terms }) => ({ version: 2, managers: [manager], told: [], terms }) as const,
    ),
]);

export function membershipFolder(stateFolder: string): string {
  return join(stateFolder, FOLDER);
}

/** Undefined where the node of this folder has joined nothing. @throws CoreError ERR_STATE_INVALID */
export async function readMembership(folder: string): Promise<Membership | undefined> {
  const path = join(folder, NAME);
  if (!existsSync(path)) return undefined;
  const read = schema.safeParse(parseJson(await readTextFile(path, MAX_BYTES)));
  if (read.success) return read.data;
  const message = `${path} is not what portolan edge join writes; remove ${folder} and join again`;
  throw new CoreError("ERR_STATE_INVALID", message);
}

export async function keepMembership(folder: string, membership: Membership): Promise<void> {
  await replaceTextFile(join(folder, NAME), `${JSON.stringify(membership, undefined, 2)}\n`);
}

/** Undefined where it is no JSON. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
