import { type ChainId, nameOf, TABLES, type TableName, tableOf } from "./chain-id.ts";

/** Changes to the chains of all tables, as data; rendered for `iptables-restore --noflush`. */
export class RestoreScript {
  readonly #tables = new Map<TableName, TableEdits>();

  /** Creates the chain, or empties it, and fills it. @param text as `chainText` gives it */
  write(chain: ChainId, text: string): void {
    const edits = this.#edits(chain);
    edits.emptied.push(`:${nameOf(chain)} - [0:0]`);
    if (text !== "") edits.added.push(text);
  }

  /** Puts rules in front of all others, in this order. */
  insert(chain: ChainId, rules: readonly string[]): void {
    const lines = rules.map((rule) => `-I ${nameOf(chain)} 1 ${rule}`);
    this.#edits(chain).added.push(...lines.reverse());
  }

  append(chain: ChainId, rule: string): void {
    this.#edits(chain).added.push(`-A ${nameOf(chain)} ${rule}`);
  }

  /** Takes one rule away that is there exactly so. */
  remove(chain: ChainId, rule: string): void {
    this.#edits(chain).removed.push(`-D ${nameOf(chain)} ${rule}`);
  }

  /** Deletes a chain of ours with all its rules. */
  deleteChain(chain: ChainId): void {
    const edits = this.#edits(chain);
    edits.emptied.push(`:${nameOf(chain)} - [0:0]`);
    edits.deleted.push(`-X ${nameOf(chain)}`);
  }

  /** Deletes a chain that has no rules left. */
  deleteEmptied(chain: ChainId): void {
    this.#edits(chain).deleted.push(`-X ${nameOf(chain)}`);
  }

  get isEmpty(): boolean {
    return this.#tables.size === 0;
  }

  /** Each is changed in a transaction of its own. */
  get tableCount(): number {
    return this.#tables.size;
  }

  /** How many lines would be executed. */
  get size(): number {
    let size = 0;
    for (const edits of this.#tables.values()) {
      for (const texts of linesOf(edits)) for (const text of texts) size += lineCount(text);
    }
    return size;
  }

  /** The first lines, each with its table, for people. */
  sample(count: number): readonly string[] {
    const lines: string[] = [];
    for (const [table, edits] of this.#tables) {
      const texts = linesOf(edits).flat();
      for (const line of texts.slice(0, count).join("\n").split("\n"))
        lines.push(`${table} ${line}`);
    }
    return lines.slice(0, count);
  }

  /** One transaction for each table. Nothing refers to a chain any more when it is deleted. */
  render(): string {
    const parts: string[] = [];
    for (const table of TABLES) {
      const edits = this.#tables.get(table);
      if (edits === undefined) continue;
      parts.push(`*${table}`);
      for (const lines of linesOf(edits)) if (lines.length > 0) parts.push(lines.join("\n"));
      parts.push("COMMIT", "");
    }
    return parts.join("\n");
  }

  #edits(chain: ChainId): TableEdits {
    const table = tableOf(chain);
    const edits = this.#tables.get(table) ?? { emptied: [], removed: [], added: [], deleted: [] };
    this.#tables.set(table, edits);
    return edits;
  }
}

interface TableEdits {
  readonly emptied: string[];
  readonly removed: string[];
  readonly added: string[];
  readonly deleted: string[];
}

function linesOf({ emptied, removed, added, deleted }: TableEdits): readonly string[][] {
  return [emptied, removed, added, deleted];
}

function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
