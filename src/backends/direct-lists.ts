import type { SlotList } from "../platform/linux/direct-connect/direct-plane.ts";
import { aliasTable } from "./alias-table.ts";
import type { DirectEntry } from "./direct-entries.ts";
import type { Place, Target } from "./port-targets.ts";

/** By which targets are chosen, each by its share. */
export function slotsOf(targets: readonly Target[]): SlotList["slots"] {
  const even = targets[0]?.share;
  // As most are: nobody gives to anybody.
  if (targets.every(({ share }) => share === even)) {
    return targets.map((target) => ({ threshold: 0, first: target, other: target }));
  }
  return aliasTable(targets.map(({ share }) => share)).flatMap(({ threshold, ...indexes }) => {
    const first = targets[indexes.first];
    const other = targets[indexes.other];
    return first && other ? [{ threshold, first, other }] : [];
  });
}

function targetKey({ ip, port }: Place): string {
  return `${ip} ${port}`;
}

/** Whether somebody is gone who could be chosen. */
export function hasLost(before: DirectEntry, now: DirectEntry | undefined): boolean {
  if (now === undefined) return true;
  const left = new Set(now.targets.map(targetKey));
  return before.targets.some((target) => !left.has(targetKey(target)));
}

export function isSameEntry(a: DirectEntry, b: DirectEntry): boolean {
  return (
    a.targets.length === b.targets.length &&
    a.targets.every(({ ip, port, share }, index) => {
      const other = b.targets[index];
      return ip === other?.ip && port === other.port && share === other.share;
    })
  );
}
