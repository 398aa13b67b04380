import type { OptionSpec, OptionSpecs } from "../core/options/option-spec.ts";
import type { OptionGroup } from "./command-spec.ts";

/** The options of all backends, each once: those that several have stand together. */
export function backendOptionGroups(
  backends: readonly { readonly name: string; readonly options: OptionSpecs }[],
): readonly OptionGroup[] {
  const owners = new Map<string, { readonly spec: OptionSpec; readonly names: string[] }>();
  for (const { name, options } of backends) {
    for (const [option, spec] of Object.entries(options)) {
      const known = owners.get(option);
      if (known === undefined) owners.set(option, { spec, names: [name] });
      else known.names.push(name);
    }
  }
  const groups = new Map<string, Record<string, OptionSpec>>();
  for (const [option, { spec, names }] of owners) {
    const title = `${names.length === 1 ? "Backend" : "Backends"} ${names.join(", ")}`;
    groups.set(title, { ...groups.get(title), [option]: spec });
  }
  return [...groups].map(([title, specs]) => ({ title, specs }));
}
