/** More slots than that are not made for the sake of exact weights; an endpoint always has one. */
export const MAX_WEIGHTED_SLOTS = 256;

/** A weight that shares are told by: within a group, and the weight of the group. */
export interface Weighted<T> {
  readonly item: T;
  readonly group: string;
  readonly groupWeight: number;
  /** Above 0. */
  readonly weight: number;
}

/**
 * How many slots each item has so that its part of all slots is its share: by the weights of the
 * groups, and within a group by the weights of its items. Exact where `MAX_WEIGHTED_SLOTS` allow it,
 * else off by less than one slot each, with at least one.
 */
export function weightSlots<T>(items: readonly Weighted<T>[]): ReadonlyMap<T, number> {
  if (isEven(items)) return addUp(items, () => 1);
  const sums = new Map<string, number>();
  for (const { group, weight } of items) sums.set(group, (sums.get(group) ?? 0) + weight);
  const common = commonMultiple([...sums.values()]);
  const partOf = ({ group, groupWeight, weight }: Weighted<T>): number =>
    (groupWeight * weight * (common ?? 1)) / (sums.get(group) ?? 1);
  const parts = items.map(partOf);
  const whole = parts.reduce((sum, part) => sum + part, 0);
  const divisor = common === undefined ? 0 : parts.reduce(greatestCommonDivisor, 0);
  if (whole <= MAX_WEIGHTED_SLOTS * divisor) return addUp(items, (one) => partOf(one) / divisor);
  const scale = Math.max(MAX_WEIGHTED_SLOTS, items.length) / whole;
  return addUp(items, (one) => Math.max(1, Math.round(partOf(one) * scale)));
}

function isEven<T>(items: readonly Weighted<T>[]): boolean {
  const [first] = items;
  return items.every(({ weight, group }) => weight === first?.weight && group === first.group);
}

/** An item may be there twice, through two groups. */
function addUp<T>(
  items: readonly Weighted<T>[],
  slotsOf: (one: Weighted<T>) => number,
): ReadonlyMap<T, number> {
  const slots = new Map<T, number>();
  for (const one of items) slots.set(one.item, (slots.get(one.item) ?? 0) + slotsOf(one));
  return slots;
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}

/** Undefined where numbers do not hold it: then shares are not exact in any number of slots that is made. */
function commonMultiple(numbers: readonly number[]): number | undefined {
  let common = 1;
  for (const number of numbers) {
    common = (common / greatestCommonDivisor(common, number)) * number;
    if (!Number.isSafeInteger(common)) return undefined;
  }
  return common;
}
