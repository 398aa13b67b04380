import type { BackendDefinition, Finding, Machine } from "../backends/backend.ts";
import { loadBackend } from "../backends/registry.ts";
import { CoreError } from "../core/errors.ts";

/** What `--to auto` comes to. */
export interface BackendChoice {
  readonly definition: BackendDefinition;
  /** In words: what was chosen, and why what would be better was not. */
  readonly reasons: readonly string[];
}

/** Those that carry all traffic of services, the best first. */
const CANDIDATES: readonly string[] = ["nftables", "ipvs", "iptables", "userspace"];
const WINDOWS_CANDIDATES: readonly string[] = ["hcn", "userspace"];

/**
 * The best backend that works on this machine.
 * @throws CoreError ERR_NOT_POSSIBLE_HERE with the remedies
 */
export async function chooseBackend(
  machine: Machine,
  load: (name: string) => Promise<BackendDefinition | undefined> = loadBackend,
): Promise<BackendChoice> {
  const candidates = machine.os === "win32" ? WINDOWS_CANDIDATES : CANDIDATES;
  const passedOver: string[] = [];
  for (const name of candidates) {
    const definition = await load(name);
    if (definition === undefined) continue;
    const missing = (await definition.probe(machine)).filter(isMissing);
    if (missing.length > 0) {
      passedOver.push(...missing.map(({ what, remedy }) => `not ${name}: ${what}: ${remedy}`));
      continue;
    }
    const why = `${name}: ${definition.summary}; the first that works here of ${candidates.join(", ")}`;
    return { definition, reasons: [why, ...passedOver] };
  }
  throw new CoreError(
    "ERR_NOT_POSSIBLE_HERE",
    ["no backend works here:", ...passedOver.map((line) => `  ${line}`)].join("\n"),
  );
}

function isMissing({ severity }: Finding): boolean {
  return severity === "missing";
}
