import { deviationsOf } from "../backends/deviations.ts";
import { loadBackend } from "../backends/registry.ts";
import { CoreError } from "../core/errors.ts";
import type { ValuesOf } from "../core/options/option-spec.ts";
import { refuseBackend } from "../daemon/backend-words.ts";
import { Faults } from "../daemon/faults.ts";

export const BACKEND_OPTIONS = {
  backend: {
    kind: "string",
    placeholder: "BACKEND",
    suggestions: ["print", "userspace"],
    help: "say also what this backend does otherwise",
  },
  live: { kind: "boolean", help: "ask the data plane of the backend itself" },
} as const;

/** What one backend does otherwise than the reference says. */
export interface BackendNotes {
  readonly name: string;
  readonly deviations: readonly string[];
}

/** @throws CoreError ERR_USAGE, ERR_NOT_POSSIBLE_HERE */
export async function backendNotes(
  options: ValuesOf<typeof BACKEND_OPTIONS>,
): Promise<BackendNotes | undefined> {
  const { backend: name, live } = options;
  if (name === undefined) {
    if (live) throw new CoreError("ERR_USAGE", "--live: expected --backend BACKEND with it");
    return undefined;
  }
  if ((await loadBackend(name)) === undefined) throw refusalOf(name);
  if (live) {
    throw new CoreError(
      "ERR_NOT_POSSIBLE_HERE",
      `--live: the backend "${name}" has no data plane to ask; without --live the rules are explained`,
    );
  }
  return {
    name,
    deviations: deviationsOf(name).map(({ fact, instead }) => `${fact} ${instead}`),
  };
}

/** A word of the command line: wrong usage, as with `run --to`. */
function refusalOf(name: string): CoreError {
  const faults = new Faults();
  faults.attempt(() => refuseBackend(name, "--backend"));
  return faults.error();
}

export function describeNotes(notes: BackendNotes | undefined): readonly string[] {
  if (notes === undefined) return [];
  const { name, deviations } = notes;
  if (deviations.length === 0) return [`The backend ${name} declares no deviation`];
  return [`The backend ${name} deviates`, ...deviations.map((line) => `  - ${line}`)];
}
