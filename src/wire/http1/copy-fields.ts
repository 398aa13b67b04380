import { equalsIgnoringCase } from "./characters.ts";
import type { FieldName } from "./field-id.ts";
import type { FieldTable } from "./field-table.ts";
import type { HeadFacts } from "./head-facts.ts";
import type { HeadWriter } from "./head-writer.ts";
import { listItems } from "./list-items.ts";

/** Fields that are for one hop only, and are written anew where the next one needs them. */
export const HOP_BY_HOP: readonly FieldName[] = [
  "connection",
  "keep-alive",
  "proxy-connection",
  "te",
  "upgrade",
  "http2-settings",
];

/**
 * Writes the head from `start`, where its first line or its first field begins, without the fields that
 * are dropped and without those that `Connection` nominates. What stays side by side is copied at once.
 */
export function copyFields(
  writer: HeadWriter,
  table: FieldTable,
  facts: HeadFacts,
  dropped: ReadonlySet<FieldName>,
  start: number,
): void {
  const nominated = facts.nominates ? nominatedNames(table) : [];
  let runStart = start;
  for (let index = 0; index < table.count; index++) {
    const field = table.field(index);
    const goes = field === "other" ? isNominated(table, index, nominated) : dropped.has(field);
    if (!goes) continue;
    writer.copy(table.bytes, runStart, table.nameStart(index));
    runStart = table.nameStart(index + 1);
  }
  writer.copy(table.bytes, runStart, table.end);
}

/** Only asked about other fields: those that the proxy itself reads do not go because someone says so. */
function isNominated(table: FieldTable, index: number, names: readonly string[]): boolean {
  if (names.length === 0) return false;
  const [start, end] = [table.nameStart(index), table.nameEnd(index)];
  return names.some((name) => equalsIgnoringCase(table.bytes, start, end, name));
}

/** The names that `Connection` lists, in lower case. */
export function nominatedNames(table: FieldTable): readonly string[] {
  const names: string[] = [];
  for (let index = 0; index < table.count; index++) {
    if (table.field(index) !== "connection") continue;
    for (const item of listItems(table.bytes, table.valueStart(index), table.valueEnd(index))) {
      names.push(table.bytes.toString("latin1", item.start, item.end).toLowerCase());
    }
  }
  return names;
}
