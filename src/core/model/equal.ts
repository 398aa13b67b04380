/** Whether two values of plain data (objects, arrays, maps, primitives) say the same. */
export function deepEqual(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b)) {
    return Array.isArray(a) && Array.isArray(b) && equalArrays(a, b);
  }
  if (a instanceof Map || b instanceof Map) {
    return a instanceof Map && b instanceof Map && equalMaps(a, b);
  }
  return equalRecords(a, b);
}

function equalMaps(a: ReadonlyMap<unknown, unknown>, b: ReadonlyMap<unknown, unknown>): boolean {
  if (a.size !== b.size) return false;
  for (const [key, value] of a) if (!b.has(key) || !deepEqual(value, b.get(key))) return false;
  return true;
}

function equalArrays(a: readonly unknown[], b: readonly unknown[]): boolean {
  return a.length === b.length && a.every((item, index) => deepEqual(item, b[index]));
}

function equalRecords(a: object, b: object): boolean {
  const left = Object.entries(a);
  if (left.length !== Object.keys(b).length) return false;
  const right = new Map(Object.entries(b));
  return left.every(([key, value]) => right.has(key) && deepEqual(value, right.get(key)));
}
