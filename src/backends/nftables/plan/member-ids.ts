import { hashText } from "../../../core/model/hash.ts";
import { classId } from "./class-id.ts";
import type { Target } from "./frontend.ts";

/** A number of 31 bits from the first hexadecimal digits of a hash. */
const DIGITS = 8;
const MASK = 0x7fff_ffff;
const HEX = 16;

/**
 * A number for each target that stays the same while others come and go, and after a restart: what a
 * client's memory holds.
 */
export function memberIds(targets: Iterable<Target>): ReadonlyMap<Target, string> {
  const ids = new Map<Target, string>();
  const taken = new Set<number>();
  for (const target of [...new Set(targets)].sort()) {
    let id = Number.parseInt(hashText(target).slice(0, DIGITS), HEX) & MASK;
    // 0 stands for none.
    while (id === 0 || taken.has(id)) id = (id + 1) & MASK;
    taken.add(id);
    ids.set(target, classId(id));
  }
  return ids;
}
