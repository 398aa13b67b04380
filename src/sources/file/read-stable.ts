import { parseState } from "./parse-state.ts";
import { type FileVersion, listFiles, readFiles } from "./read-files.ts";
import type { LoadedState } from "./state-builder.ts";

/** Files that change all the time are taken as they are after this many attempts. */
const MAX_ATTEMPTS = 5;

export interface StableState {
  readonly state: LoadedState;
  readonly files: readonly FileVersion[];
}

/** What tells one state of the files from another. */
export function versionOf(files: readonly FileVersion[]): string {
  return files.map(({ path, version }) => `${path} ${version}`).join("\n");
}

/**
 * Reads the files so that they did not change meanwhile: what is half written would be refused, or
 * worse, taken for the whole.
 * @throws CoreError as `loadState`
 */
export async function readStable(path: string, maxBytes: number): Promise<StableState> {
  for (let attempt = 1; ; attempt++) {
    const files = await listFiles(path);
    const outcome = await attemptTo(async () => parseState(await readFiles(files, maxBytes)));
    const isLast = attempt === MAX_ATTEMPTS;
    if (!isLast && versionOf(await listFiles(path)) !== versionOf(files)) continue;
    if ("error" in outcome) throw outcome.error;
    return { state: outcome.value, files };
  }
}

async function attemptTo<T>(run: () => Promise<T>): Promise<{ value: T } | { error: unknown }> {
  try {
    return { value: await run() };
  } catch (error) {
    return { error };
  }
}
