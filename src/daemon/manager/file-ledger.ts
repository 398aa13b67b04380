import { join } from "node:path";
import * as z from "zod";
import type { Ledger, LedgerPlan, ObjectName } from "../../brain/manager/ledger.ts";
import { CoreError } from "../../core/errors.ts";
import type { Log } from "../../core/log.ts";
import { type Kind, keyOf, type ModelObject, type ObjectOf } from "../../core/model/object.ts";
import { Turns } from "../../core/turns.ts";
import { Journal } from "../journal/journal.ts";
import { makePrivateFolder, readTextFile, replaceTextFile } from "../private-files.ts";

const SECRETS_NAME = "secrets.json";
const MAX_SECRETS_BYTES = 16_777_216;

const secretsSchema = z.strictObject({
  version: z.literal(1),
  secrets: z.record(z.string(), z.string()),
});

/**
 * What a manager keeps in a folder of its own: objects in a journal, secrets in a file beside it. One process at a
 * time has it, which the instance socket of the state folder sees to.
 */
export class FileLedger implements Ledger {
  readonly #journal: Journal;
  readonly #path: string;
  readonly #turns = new Turns();
  #secrets: ReadonlyMap<string, string>;
  #onChange: (names: readonly ObjectName[]) => void = () => undefined;

  /** @throws CoreError ERR_JOURNAL, ERR_STATE_INVALID, ERR_STATE_UNREADABLE */
  static async open(folder: string, log: Log, nowMs: () => number): Promise<FileLedger> {
    await makePrivateFolder(folder);
    const path = join(folder, SECRETS_NAME);
    const secrets = await readSecrets(path);
    const journal = await Journal.open({ folder, log, ignores: false, nowMs });
    return new FileLedger(journal, path, secrets);
  }

  private constructor(journal: Journal, path: string, secrets: ReadonlyMap<string, string>) {
    this.#journal = journal;
    this.#path = path;
    this.#secrets = secrets;
  }

  get<K extends Kind>(kind: K, key: string): ObjectOf<K> | undefined {
    const object = this.#journal.kept.get(kind, key);
    return isOfKind(object, kind) ? object : undefined;
  }

  objects(): Iterable<ModelObject> {
    return this.#journal.kept.objects();
  }

  secret(name: string): string | undefined {
    return this.#secrets.get(name);
  }

  secrets(): ReadonlyMap<string, string> {
    return this.#secrets;
  }

  change<T>(plan: () => LedgerPlan<T>): Promise<T> {
    return this.#turns.take(async () => {
      const { change, result } = plan();
      const {
        set = [],
        delete: gone = [],
        secrets = new Map<string, string | undefined>(),
      } = change;
      // A token that was used for nothing is better than one that was used twice.
      if (secrets.size > 0) await this.#keepSecrets(secrets);
      if (set.length + gone.length > 0) await this.#journal.keepObjects({ set, delete: gone });
      this.#onChange([
        ...gone,
        ...set.map((object) => ({ kind: object.kind, key: keyOf(object) })),
      ]);
      return result;
    });
  }

  follow(onChange: (names: readonly ObjectName[]) => void): void {
    this.#onChange = onChange;
  }

  async close(): Promise<void> {
    await this.#turns.over();
    await this.#journal.close();
  }

  async #keepSecrets(changes: ReadonlyMap<string, string | undefined>): Promise<void> {
    const secrets = new Map(this.#secrets);
    for (const [name, text] of changes) {
      if (text === undefined) secrets.delete(name);
      else secrets.set(name, text);
    }
    const file = { version: 1, secrets: Object.fromEntries(secrets) };
    await replaceTextFile(this.#path, `${JSON.stringify(file, undefined, 1)}\n`);
    this.#secrets = secrets;
  }
}

async function readSecrets(path: string): Promise<ReadonlyMap<string, string>> {
  let text: string;
  try {
    text = await readTextFile(path, MAX_SECRETS_BYTES);
  } catch (error) {
    if (isMissing(error)) return new Map();
    throw error;
  }
  const parsed = secretsSchema.safeParse(parseJson(text));
  if (parsed.success) return new Map(Object.entries(parsed.data.secrets));
  throw new CoreError(
    "ERR_STATE_INVALID",
    `${path}: it is not understood; expected what a manager wrote, or ${path}.bak in its place`,
  );
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isMissing(error: unknown): boolean {
  const cause = error instanceof CoreError ? error.cause : undefined;
  return cause instanceof Error && "code" in cause && cause.code === "ENOENT";
}

function isOfKind<K extends Kind>(object: ModelObject | undefined, kind: K): object is ObjectOf<K> {
  return object?.kind === kind;
}
