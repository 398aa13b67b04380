/** So many stand in a line; the rest is counted. */
const MAX_NAMED = 5;

/** For people: `a, b, c, d, e and 7 more`. */
export function enumerateNames(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED).join(", ");
  const others = names.length - MAX_NAMED;
  return others > 0 ? `${named} and ${others} more` : named;
}
