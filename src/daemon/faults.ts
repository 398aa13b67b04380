import { CoreError } from "../core/errors.ts";
import { formatProblem } from "../core/model/problems.ts";
import type { OptionSpecs, ValuesOf } from "../core/options/option-spec.ts";
import type { Resolved } from "../core/options/resolve-options.ts";

/** Collects what is wrong, in words, to be thrown at once. */
export class Faults {
  readonly #lines: string[] = [];
  #isUsage = false;
  #notPossible: CoreError | undefined;

  values<S extends OptionSpecs>(resolved: Resolved<S>): ValuesOf<S> | undefined {
    for (const problem of resolved.problems) {
      this.#lines.push(formatProblem(problem));
      if (String(problem.path[0]).startsWith("--")) this.#isUsage = true;
    }
    return resolved.values;
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
      if (error.code === "ERR_NOT_POSSIBLE_HERE") this.#notPossible ??= error;
      else if (error.message.startsWith("--")) this.usage(error.message);
      else this.#lines.push(error.message);
      return undefined;
    }
  }

  get any(): boolean {
    return this.#lines.length > 0 || this.#notPossible !== undefined;
  }

  /** What is wrong; something that this version can not do only where nothing else is. */
  error(): CoreError {
    const code = this.#isUsage ? "ERR_USAGE" : "ERR_CONFIG_INVALID";
    if (this.#lines.length === 0 && this.#notPossible !== undefined) return this.#notPossible;
    return new CoreError(code, this.#lines.join("\n"));
  }
}
