import { existsSync } from "node:fs";
import { type FileHandle, open, rename } from "node:fs/promises";
import { join } from "node:path";
import * as z from "zod";
import { messageOf } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { ipSchema } from "../../core/model/common.ts";
import { readRegularFile } from "../../platform/read-regular-file.ts";
import type { FlowNews } from "../tunnel/flow-keeper.ts";
import type { KeptFlow } from "../tunnel/kept-flow.ts";

const NAME = "flows.jsonl";
const MAX_BYTES = 256 * 1024 * 1024;
const OWNER_ONLY = 0o600;
/** The file is written anew when so many of its lines say nothing any more, and more than half. */
const MIN_STALE = 4096;

const lineSchema = z.union([
  z.strictObject({ gone: z.number() }),
  z.strictObject({
    id: z.number(),
    protocol: z.number(),
    client: ipSchema,
    service: ipSchema,
    ports: z.number(),
    source: ipSchema,
    server: ipSchema,
    sentPorts: z.number(),
    answeredBy: ipSchema,
    answeredTo: ipSchema,
  }),
]);

/**
 * The connections of a node, a line each as they come and go, for the process after this one. It need not
 * outlive the machine: nothing is synced.
 */
export class FlowFile {
  readonly #path: string;
  readonly #log: Log;
  readonly #flows = new Map<number, KeptFlow>();
  #file: FileHandle | undefined;
  #lines = 0;
  #last: Promise<void> = Promise.resolve();
  #hasFailed = false;

  /** @param folder that of the node */
  static async open(folder: string, log: Log): Promise<FlowFile> {
    const path = join(folder, NAME);
    const file = new FlowFile(path, log);
    if (existsSync(path)) {
      file.#read((await readRegularFile(path, MAX_BYTES).catch(() => undefined)) ?? "");
    }
    file.#write(() => file.#rewrite());
    await file.#last;
    return file;
  }

  private constructor(path: string, log: Log) {
    this.#path = path;
    this.#log = log;
  }

  get flows(): readonly KeptFlow[] {
    return [...this.#flows.values()];
  }

  note({ added, removed }: FlowNews): void {
    for (const flow of added) this.#flows.set(flow.id, flow);
    for (const id of removed) this.#flows.delete(id);
    this.#lines += added.length + removed.length;
    const isStale = this.#lines - this.#flows.size > Math.max(MIN_STALE, this.#flows.size);
    const lines = [...added, ...removed.map((gone) => ({ gone }))];
    this.#write(() => (isStale ? this.#rewrite() : this.#append(lines)));
  }

  async close(): Promise<void> {
    await this.#last;
    await this.#file?.close();
    this.#file = undefined;
  }

  /** A line that a crash cut off is passed over. */
  #read(text: string): void {
    for (const line of text.split("\n")) {
      const { data } = lineSchema.safeParse(parseJson(line));
      if (data === undefined) continue;
      if ("gone" in data) this.#flows.delete(data.gone);
      else this.#flows.set(data.id, data);
    }
  }

  #write(act: () => Promise<void>): void {
    this.#last = this.#last.then(act).catch((error: unknown) => {
      if (!this.#hasFailed)
        this.#log.warn({ err: error }, `flows are not kept: ${messageOf(error)}`);
      this.#hasFailed = true;
    });
  }

  async #append(lines: readonly object[]): Promise<void> {
    await this.#file?.appendFile(textOf(lines));
  }

  async #rewrite(): Promise<void> {
    const fresh = `${this.#path}.new`;
    const before = this.#file;
    const lines = this.flows;
    const file = await open(fresh, "w", OWNER_ONLY);
    await file.writeFile(textOf(lines));
    await rename(fresh, this.#path);
    this.#file = file;
    this.#lines = lines.length;
    await before?.close();
  }
}

function parseJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

function textOf(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join("");
}
