import { CoreError, type ErrorCode } from "../core/errors.ts";
import type { Caller } from "./command.ts";
import type { Control } from "./control.ts";
import { MemoryWorld, type MemoryWorldOptions } from "./control-world.fixture.ts";
import { createControl } from "./create-control.ts";
import type { Result, ResultRecord } from "./result.ts";

export const CONSOLE: Caller = { via: "console", from: "test", maySystem: true };
export const REMOTE: Caller = { via: "resp", from: "192.0.2.7:4711", maySystem: false };

/** An instance at whose console tests type. */
export class TypedControl {
  readonly world: MemoryWorld;
  readonly control: Control;

  constructor(options: MemoryWorldOptions = {}) {
    this.world = new MemoryWorld(options);
    this.control = createControl(this.world);
  }

  type(line: string, caller: Caller = CONSOLE): Promise<Result> {
    return this.control.run(this.control.parse(line), caller);
  }

  /** One line after the other. */
  async typeAll(...lines: readonly string[]): Promise<void> {
    for (const line of lines) await this.type(line);
  }

  async names(line: string): Promise<readonly string[]> {
    const result = await this.type(line);
    if (result.kind !== "names") throw new TypeError(`${line}: ${result.kind}, not names`);
    return result.names;
  }

  async records(line: string): Promise<readonly ResultRecord[]> {
    const result = await this.type(line);
    if (result.kind !== "records") throw new TypeError(`${line}: ${result.kind}, not records`);
    return result.records;
  }

  async text(line: string): Promise<string> {
    const result = await this.type(line);
    if (result.kind !== "text") throw new TypeError(`${line}: ${result.kind}, not text`);
    return result.text;
  }

  /** `CODE message` of a line that must be refused. */
  async refusal(line: string, caller: Caller = CONSOLE): Promise<`${ErrorCode} ${string}`> {
    const error = await this.#errorOf(line, caller);
    return `${error.code} ${error.message}`;
  }

  async #errorOf(line: string, caller: Caller): Promise<CoreError> {
    try {
      await this.type(line, caller);
    } catch (error) {
      if (error instanceof CoreError) return error;
      throw error;
    }
    throw new TypeError(`${line}: was not refused`);
  }
}
