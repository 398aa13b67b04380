import { CoreError } from "../../core/errors.ts";
import type { ModelObject } from "../../core/model/object.ts";
import { type Problem, problemsError } from "../../core/model/problems.ts";
import type { Command, ResourceCommand } from "../command.ts";
import { parseCommand } from "../grammar/parse-command.ts";
import { type LineLimits, tokenize } from "../grammar/tokenize.ts";
import { pauseAt } from "../pause.ts";
import { RESOURCES } from "../resources/table.ts";
import type { ControlWorld } from "../world.ts";
import { locate, parseObjectLine } from "./object-line.ts";

/** Configurations hold whole objects as JSON, so their lines may be longer than what is typed. */
export const CONFIG_LINE_LIMITS: LineLimits = { maxChars: 4_194_304, maxTokens: 65_536 };

/** Files that load files that load files. */
const MAX_DEPTH = 8;
const MAX_FILES = 100;
const MAX_PROBLEMS = 100;

/** A line of a configuration, and where it stands: `site.conf:12`. */
export type ConfigStep = { readonly at: string } & (
  | { readonly kind: "command"; readonly command: ResourceCommand }
  | { readonly kind: "object"; readonly object: ModelObject }
);

/**
 * Reads a configuration with the files that it loads.
 * @throws CoreError ERR_USAGE with all that is wrong with its lines; whatever reading a file throws
 */
export async function readConfig(
  path: string,
  world: Pick<ControlWorld, "readFile">,
): Promise<readonly ConfigStep[]> {
  const reading = new ConfigReading(world);
  await reading.readFile(path, 1);
  return reading.finish();
}

class ConfigReading {
  readonly #world: Pick<ControlWorld, "readFile">;
  readonly #steps: ConfigStep[] = [];
  readonly #problems: Problem[] = [];
  #files = 0;
  #lines = 0;

  constructor(world: Pick<ControlWorld, "readFile">) {
    this.#world = world;
  }

  async readFile(path: string, depth: number): Promise<void> {
    this.#files += 1;
    if (depth > MAX_DEPTH || this.#files > MAX_FILES) {
      throw new CoreError(
        "ERR_USAGE",
        `${path}: more than ${depth > MAX_DEPTH ? `${MAX_DEPTH} files deep` : `${MAX_FILES} files`}; does it load itself?`,
      );
    }
    const lines = (await this.#world.readFile(path)).split(/\r?\n/);
    for (const [index, line] of lines.entries()) {
      await pauseAt(this.#lines);
      this.#lines += 1;
      await this.#readLine(line, `${path}:${index + 1}`, depth);
    }
  }

  async #readLine(line: string, at: string, depth: number): Promise<void> {
    try {
      const object = parseObjectLine(line);
      if (object !== undefined) this.#steps.push({ kind: "object", object, at });
      else if (tokenize(line, CONFIG_LINE_LIMITS).length > 0) {
        const nested = this.#take(parseCommand(line, RESOURCES, CONFIG_LINE_LIMITS), line, at);
        if (nested !== undefined) await this.readFile(nested, depth + 1);
      }
    } catch (error) {
      if (!(error instanceof CoreError) || error.problems.length === 0) throw error;
      this.#problems.push(...locate(error, at).problems);
      if (this.#problems.length >= MAX_PROBLEMS) this.finish();
    }
  }

  /** Gives the file that a line loads; undefined where it is another one. */
  #take(command: Command, line: string, at: string): string | undefined {
    if (command.kind === "system" && command.verb === "load") return command.args[0];
    const isListing = command.kind === "resource" && command.action.startsWith("list");
    if (command.kind === "resource" && !isListing) {
      this.#steps.push({ kind: "command", command, at });
      return undefined;
    }
    const problem: Problem = {
      path: [],
      fault: "malformed",
      value: `"${line.trim()}" changes nothing that a configuration holds`,
      expected: "add, update, remove, force-remove or load",
      location: at,
    };
    throw problemsError("ERR_USAGE", [problem]);
  }

  finish(): readonly ConfigStep[] {
    if (this.#problems.length > 0) throw problemsError("ERR_USAGE", this.#problems);
    return this.#steps;
  }
}
