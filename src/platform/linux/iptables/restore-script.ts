import { type ChainId, isHook, nameOf, TABLES, type TableName, tableOf } from "./chain-id.ts";
import type { IptablesMode } from "./iptables-tool.ts";

/** From so many lines on, a table of iptables-nft is told in parts. */
const MANY_LINES = 5000;
/** Of `renderAlong`: some tens of kilobytes. */
const CHAINS_IN_A_PIECE = 200;

/**
 * iptables-nft notes each chain that a line names in a sorted list, which it walks from its beginning
 * each time: ten thousand services take it many minutes. A line without a chain makes it read the
 * whole table in place of that. It stands before all others, and hooks are told apart: after it, the
 * tool takes all of them for made.
 */
const READ_ALL: readonly string[] = ["-S"];

/** Changes to the chains of all tables, as data; rendered for `iptables-restore --noflush`. */
export class RestoreScript {
  readonly #tables = new Map<TableName, TableEdits>();
  /** What `renderAlong` gave away. */
  readonly #told = { transactions: 0, lines: 0 };

  /** Creates the chain, or empties it, and fills it. @param text as `chainText` gives it */
  write(chain: ChainId, text: string): void {
    this.empty(chain);
    this.fill(chain, text);
  }

  /** Creates the chain, or empties it. */
  empty(chain: ChainId): void {
    this.#edits(chain).emptied.push(`:${nameOf(chain)} - [0:0]`);
  }

  /** Puts rules behind all others. @param text as `chainText` gives it */
  fill(chain: ChainId, text: string): void {
    if (text !== "") this.#edits(chain).added.push(text);
  }

  /** Puts rules in front of all others, in this order. */
  insert(chain: ChainId, rules: readonly string[]): void {
    const lines = rules.map((rule) => `-I ${nameOf(chain)} 1 ${rule}`);
    this.#placeOf(chain).added.push(...lines.reverse());
  }

  append(chain: ChainId, rule: string): void {
    this.#placeOf(chain).added.push(`-A ${nameOf(chain)} ${rule}`);
  }

  /** Takes one rule away that is there exactly so. */
  remove(chain: ChainId, rule: string): void {
    this.#placeOf(chain).removed.push(`-D ${nameOf(chain)} ${rule}`);
  }

  /** Deletes a chain of ours with all its rules. */
  deleteChain(chain: ChainId): void {
    this.empty(chain);
    this.#edits(chain).deleted.push(`-X ${nameOf(chain)}`);
  }

  /** Deletes a chain that has no rules left. */
  deleteEmptied(chain: ChainId): void {
    this.#edits(chain).deleted.push(`-X ${nameOf(chain)}`);
  }

  get isEmpty(): boolean {
    return this.#tables.size === 0;
  }

  transactionCount(mode: IptablesMode): number {
    return this.#told.transactions + this.#transactions(mode).length;
  }

  /** How many lines would be executed, or were told already. */
  get size(): number {
    let size = this.#told.lines;
    for (const edits of this.#tables.values()) size += countLines(edits);
    return size;
  }

  /** The first lines, each with its table, for people. */
  sample(count: number): readonly string[] {
    const lines: string[] = [];
    for (const [table, edits] of this.#tables) {
      const texts = linesOf(edits).flat();
      if (texts.length === 0) continue;
      for (const line of texts.slice(0, count).join("\n").split("\n"))
        lines.push(`${table} ${line}`);
    }
    return lines.slice(0, count);
  }

  /**
   * One transaction for each table, or some where the tool would be slow. Nothing refers to a chain any
   * more when it is deleted.
   */
  render(mode: IptablesMode): string {
    return renderTransactions(this.#transactions(mode));
  }

  /**
   * The same in pieces, for a table with very many chains that are written in steps: the tool reads the
   * first ones while the next are worked out. No chain may lead to one that comes in a later step. The
   * other tables follow: this is for a kernel that has nothing yet that they could refuse.
   */
  *renderAlong(mode: IptablesMode, table: TableName, steps: Iterable<unknown>): Generator<string> {
    const isParted = mode === "nft";
    yield linesText([`*${table}`, ...(isParted ? READ_ALL : [])]);
    for (const _ of steps) {
      const edits = this.#tables.get(table);
      if (edits !== undefined && edits.added.length >= CHAINS_IN_A_PIECE) {
        yield this.#tell(edits.emptied, edits.added);
      }
    }
    const { emptied, removed, added, hooks, deleted } = this.#editsIn(table);
    yield this.#tell(emptied, removed, added);
    if (!isParted) yield this.#tell(hooks.removed, hooks.added, deleted);
    yield linesText(["COMMIT"]);
    this.#told.transactions += 1;
    yield `\n${renderTransactions(this.#transactions(mode))}`;
  }

  #tell(...parts: readonly string[][]): string {
    const lines = parts.flat();
    for (const line of lines) this.#told.lines += lineCount(line);
    for (const part of parts) part.length = 0;
    return linesText(lines);
  }

  #transactions(mode: IptablesMode): readonly Transaction[] {
    return TABLES.flatMap((table) => {
      const edits = this.#tables.get(table);
      if (edits === undefined || countLines(edits) === 0) return [];
      const isSlow = mode === "nft" && countLines(edits) >= MANY_LINES;
      const parts = isSlow ? partsOf(edits) : [linesOf(edits)];
      return parts.map((lines) => ({ table, lines }));
    });
  }

  #placeOf(chain: ChainId): Pick<TableEdits, "removed" | "added"> {
    const edits = this.#edits(chain);
    return isHook(chain) ? edits.hooks : edits;
  }

  #edits(chain: ChainId): TableEdits {
    return this.#editsIn(tableOf(chain));
  }

  #editsIn(table: TableName): TableEdits {
    const edits = this.#tables.get(table) ?? {
      emptied: [],
      removed: [],
      added: [],
      hooks: { removed: [], added: [] },
      deleted: [],
    };
    this.#tables.set(table, edits);
    return edits;
  }
}

interface Transaction {
  readonly table: TableName;
  readonly lines: readonly (readonly string[])[];
}

interface TableEdits {
  readonly emptied: string[];
  readonly removed: string[];
  readonly added: string[];
  readonly hooks: { readonly removed: string[]; readonly added: string[] };
  readonly deleted: string[];
}

function renderTransactions(transactions: readonly Transaction[]): string {
  return transactions
    .map(({ table, lines }) => linesText([`*${table}`, ...lines.flat(), "COMMIT"]))
    .join("\n");
}

function linesText(lines: readonly string[]): string {
  return lines.length === 0 ? "" : `${lines.join("\n")}\n`;
}

function linesOf({ emptied, removed, added, hooks, deleted }: TableEdits): readonly string[][] {
  return [emptied, removed, added, hooks.removed, hooks.added, deleted];
}

/** Chains are filled before anything leads to them, and deleted when nothing does any more. */
function partsOf(edits: TableEdits): readonly (readonly (readonly string[])[])[] {
  const { emptied, removed, added, hooks, deleted } = edits;
  const parts = [
    [READ_ALL, emptied, removed, added],
    [hooks.removed, hooks.added],
    [READ_ALL, deleted],
  ];
  return parts.filter((part) => part.some((lines) => lines !== READ_ALL && lines.length > 0));
}

function countLines(edits: TableEdits): number {
  let count = 0;
  for (const texts of linesOf(edits)) for (const text of texts) count += lineCount(text);
  return count;
}

function lineCount(text: string): number {
  let count = 1;
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) count += 1;
  return count;
}
