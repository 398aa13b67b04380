import { CoreError, type ErrorCode } from "../core/errors.ts";
import { formatPath, formatProblem, MAX_PRINTED, type PathPart } from "../core/model/problems.ts";
import type { OptionSpecs, ValuesOf } from "../core/options/option-spec.ts";
import type { Resolved } from "../core/options/resolve-options.ts";
import type { CheckedConfigFile, Locate } from "./config-file.ts";

/** Collects what is wrong, in words, to be thrown at once. */
export class Faults {
  readonly #lines: string[] = [];
  readonly #notPossible: CoreError[] = [];
  #isUsage = false;
  #locate: Locate | undefined;
  #isFileBad = false;

  values<S extends OptionSpecs>(resolved: Resolved<S>): ValuesOf<S> | undefined {
    for (const { path, ...problem } of resolved.problems) {
      const text = formatProblem({ ...problem, path: [] });
      this.#lines.push(`${this.placeOf(path)}: ${text}`);
      if (String(path[0]).startsWith("--")) this.#isUsage = true;
    }
    return resolved.values;
  }

  /** What is wrong with a config file by itself. */
  file({ locate, problems }: Pick<CheckedConfigFile, "locate" | "problems">): void {
    this.#locate = locate;
    this.#isFileBad = problems.length > 0;
    this.#lines.push(...problems.map(formatProblem));
  }

  /** What an error calls a place: flags and variables by their names, the rest is in the file. */
  placeOf(path: readonly PathPart[]): string {
    const file = path.length > 1 ? this.#locate?.(path) : undefined;
    return file === undefined ? formatPath(path) : `${file}: ${formatPath(path)}`;
  }

  /** That something is not said; a file that is wrong may say it in words that nobody knows. */
  missing(line: string): void {
    if (!this.#isFileBad) this.usage(line);
  }

  usage(line: string): void {
    this.#lines.push(line);
    this.#isUsage = true;
  }

  attempt<T>(act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof CoreError)) throw error;
      if (error.code === "ERR_NOT_POSSIBLE_HERE") this.#notPossible.push(error);
      else if (error.message.startsWith("--")) this.usage(error.message);
      else this.#lines.push(error.message);
      return undefined;
    }
  }

  get any(): boolean {
    return this.#lines.length > 0 || this.#notPossible.length > 0;
  }

  /** What is wrong; that this version can not do something is the error only where nothing else is. */
  error(): CoreError {
    const messages = this.#notPossible.map(({ message }) => message);
    // Backends that share an option share what is wrong with it.
    const lines = [...new Set([...this.#lines, ...messages])];
    const more = lines.length - MAX_PRINTED;
    const shown = more > 0 ? [...lines.slice(0, MAX_PRINTED), `and ${more} more`] : lines;
    return new CoreError(this.#code(), shown.join("\n"));
  }

  #code(): ErrorCode {
    if (this.#isUsage) return "ERR_USAGE";
    return this.#lines.length > 0 ? "ERR_CONFIG_INVALID" : "ERR_NOT_POSSIBLE_HERE";
  }
}
