import { flagName, type OptionSpec } from "../core/options/option-spec.ts";
import type { ArgumentSpec } from "./command-spec.ts";

/** `<FILE>`, `[KIND]` where it may be missing, `[NAME...]` where more may follow. */
export function argumentTerm({ name, isOptional, isRepeated }: ArgumentSpec): string {
  const term = isRepeated === true ? `${name}...` : name;
  return isOptional === true ? `[${term}]` : `<${term}>`;
}

/** `--metrics-listen <ADDR>`, as help and docs write it. */
export function optionTerm(name: string, spec: OptionSpec): string {
  const value = valueTerm(spec);
  const flag = `${spec.short === undefined ? "" : `-${spec.short}, `}--${flagName(name)}`;
  if (value === "") return flag;
  // A boolean that may be said to be false, too.
  return spec.kind === "boolean" ? `${flag} [${value}]` : `${flag} <${value}>`;
}

/** The help of an option, with its default. */
export function optionHelp(spec: OptionSpec): string {
  const standard = "default" in spec ? spec.default : undefined;
  return standard === undefined ? spec.help : `${spec.help} (default: ${standard})`;
}

function valueTerm(spec: OptionSpec): string {
  if (spec.placeholder !== undefined) return spec.placeholder;
  switch (spec.kind) {
    case "boolean":
      return "";
    case "enum":
      return spec.values.join("|");
    case "address":
      return "ADDR";
    case "number":
      return "N";
    case "duration":
      return "TIME";
    default:
      return "TEXT";
  }
}
