import { join } from "node:path";

export interface FolderFacts {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** The home folder of the user. */
  readonly home: string;
  readonly os: NodeJS.Platform;
}

/** Where an instance keeps what belongs to it, unless `--state` says. */
export function defaultStateFolder({ environment, home, os }: FolderFacts): string {
  const base =
    os === "win32"
      ? (environment["LOCALAPPDATA"] ?? join(home, "AppData", "Local"))
      : (environment["XDG_STATE_HOME"] ?? join(home, ".local", "state"));
  return join(base, "portolan");
}
