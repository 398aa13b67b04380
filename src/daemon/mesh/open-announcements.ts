import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import {
  type AnnounceRequest,
  announceSchema,
} from "../../brain/announcements/announced-instance.ts";
import { openGate } from "../../brain/announcements/announcement-methods.ts";
import { Announcements } from "../../brain/announcements/announcements.ts";
import type { ApiGate } from "../../brain/api-gate.ts";
import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import type { MetricFamily } from "../../core/metrics/metric-family.ts";
import type { GlobalStore } from "../../core/store/global-store.ts";
import { makePrivateFolder } from "../private-files.ts";

const FILE = "announced.json";
const OWNER_ONLY = 0o600;

const fileSchema = z.strictObject({ version: z.literal(1), announced: z.array(announceSchema) });

export interface OpenAnnouncements {
  readonly announcements: Announcements;
  /** For a server that has no other rules. */
  readonly gate: ApiGate;
  metrics(): readonly MetricFamily[];
  close(): Promise<void>;
}

/**
 * What instances announce to this one. With a folder it is there again after a restart, so that nobody is left
 * without servers until all have announced themselves anew.
 */
export async function openAnnouncements(
  store: GlobalStore,
  log: Log,
  folder: string | undefined,
): Promise<OpenAnnouncements> {
  const path = folder && join(folder, FILE);
  const announcements = new Announcements({
    store,
    log,
    nowMs: () => performance.now(),
    before: path === undefined ? [] : await readKept(path, log),
    ...(path !== undefined && { keep: (announced) => replace(path, announced) }),
  });
  if (folder !== undefined) await makePrivateFolder(folder);
  return {
    announcements,
    gate: openGate(announcements),
    metrics: () => announcements.metrics(),
    close: () => announcements.close(),
  };
}

/** What can not be read is told and begun anew: it will be announced again. */
async function readKept(path: string, log: Log): Promise<readonly AnnounceRequest[]> {
  try {
    return fileSchema.parse(JSON.parse(await readFile(path, "utf8"))).announced;
  } catch (error) {
    const isMissing = error instanceof Error && "code" in error && error.code === "ENOENT";
    if (!isMissing) log.warn({ file: path }, `it is not read: ${messageOf(error)}`);
    return [];
  }
}

async function replace(path: string, announced: readonly AnnounceRequest[]): Promise<void> {
  await writeFile(`${path}.new`, JSON.stringify({ version: 1, announced }), { mode: OWNER_ONLY });
  await rename(`${path}.new`, path);
}
