/** So many names stand in a line; the rest is counted. */
const MAX_NAMED = 5;

/** One line for each reason, however many things it is about. */
export function limitLines(limits: ReadonlyMap<string, readonly string[]>): readonly string[] {
  const subjects = new Map<string, string[]>();
  for (const [subject, reasons] of limits) {
    for (const reason of reasons) {
      const known = subjects.get(reason);
      if (known === undefined) subjects.set(reason, [subject]);
      else known.push(subject);
    }
  }
  return [...subjects].map(([reason, names]) => `${reason}: ${enumerate(names)}`);
}

function enumerate(names: readonly string[]): string {
  const named = names.slice(0, MAX_NAMED).join(", ");
  const others = names.length - MAX_NAMED;
  return others > 0 ? `${named} and ${others} more` : named;
}
